import { beforeEach, expect, it } from '@jest/globals';

const stored = new Map<string, string>();
let answer = false;
let questions: string[];
let calls: (string | null)[][];

/** Fakes the browser APIs that signing in uses. */
Object.assign(globalThis, {
  location: { origin: 'https://router.example.com', hash: '#code=c', pathname: '/console/', search: '' },
  history: { replaceState: () => {} },
  sessionStorage: {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => void stored.set(name, text),
    removeItem: (name: string) => void stored.delete(name),
  },
  confirm: (question: string) => {
    questions.push(question);
    return answer;
  },
  fetch: async (request: Request) => {
    calls.push([new URL(request.url).pathname, request.headers.get('authorization')]);
    return Response.json(request.method === 'POST' ? { key: 'new' } : { name: 'somebody else' });
  },
});
// Imported late: both modules read these globals on load.
const { exchangeCode } = await import('./one-time-link.ts');
const { session } = await import('./session.ts');

beforeEach(() => {
  questions = [];
  calls = [];
  session.signOut();
});

it('signs in without asking if there is no session', async () => {
  await exchangeCode();
  expect([session.credential(), questions]).toEqual(['new', []]);
  expect(calls).toEqual([['/v2/sign-in', 'Bearer c']]);
});

it.each([
  [true, 'new'],
  [false, 'old'],
])(
  'asks before a link replaces a session, and names its workspace (answer: %s)',
  async (given, credential) => {
    answer = given;
    session.signIn('old');
    await exchangeCode();
    expect(session.credential()).toBe(credential);
    expect(questions).toEqual([expect.stringContaining('somebody else')]);
    expect(calls.at(-1)).toEqual(['/v2/workspace', 'Bearer new']);
  },
);
