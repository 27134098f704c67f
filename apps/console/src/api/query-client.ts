import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the service refused it refuses again; what it could not do now it may do in a moment.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && (error.status === 0 || error.status >= 500),
    },
  },
});
