import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A 4xx needs the user to act; network errors and 5xx may be temporary.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && (error.status === 0 || error.status >= 500),
    },
  },
});
