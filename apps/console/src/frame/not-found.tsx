import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { texts } from '../texts/index.ts';

export function NotFound() {
  return (
    <Empty title={texts.frame.notFound} detail={texts.frame.notFoundDetail}>
      <Button component={Link} to="/models">
        {texts.frame.notFoundAction}
      </Button>
    </Empty>
  );
}
