import { afterAll, beforeEach, expect, it } from '@jest/globals';

const stored = new Map<string, string>();
let answer = false;
let questions: string[];
let calls: (string | null)[][];
let replies: (() => Response | Promise<Response>)[];
let addresses: string[];

/** Fakes the browser APIs that signing in uses. */
Object.assign(globalThis, {
  location: { origin: 'https://router.example.com', hash: '#code=c', pathname: '/console/', search: '' },
  history: { replaceState: (_state: null, _title: string, address: string) => void addresses.push(address) },
  sessionStorage: {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => void stored.set(name, text),
    removeItem: (name: string) => void stored.delete(name),
    clear: () => stored.clear(),
  },
  BroadcastChannel: class {
    addEventListener() {}
    postMessage() {}
  },
  confirm: (question: string) => {
    questions.push(question);
    return answer;
  },
  fetch: async (request: Request) => {
    calls.push([new URL(request.url).pathname, request.headers.get('authorization')]);
    const reply = replies.shift();
    if (reply) return reply();
    return Response.json(request.method === 'POST' ? { key: 'new' } : { name: 'somebody else' });
  },
});
afterAll(() => {
  for (const name of ['location', 'history', 'sessionStorage', 'confirm'])
    Reflect.deleteProperty(globalThis, name);
});
// Imported late: both modules read these globals on load.
const { signInLink } = await import('./one-time-link.ts');
const { session } = await import('./session.ts');

beforeEach(() => {
  questions = [];
  calls = [];
  replies = [];
  addresses = [];
  session.signOut();
});

it('takes the code out of the address and uses it only when told to', async () => {
  signInLink.take();
  expect([signInLink.code(), addresses, calls]).toEqual(['c', ['/console/'], []]);
  await signInLink.use();
  expect(signInLink.code()).toBeNull();
  await signInLink.use();
  expect(calls).toEqual([['/v2/sign-in', 'Bearer c']]);
});

it('keeps a code that could not be sent, and forgets one that was refused', async () => {
  signInLink.take();
  replies = [() => Promise.reject(new TypeError('offline')), () => Response.json({}, { status: 401 })];
  await signInLink.use();
  expect([signInLink.code(), session.notice()]).toEqual(['c', 'unreadLink']);
  await signInLink.use();
  expect([signInLink.code(), session.notice()]).toEqual([null, 'spentLink']);
});

it('signs in without asking if there is no session', async () => {
  signInLink.take();
  await signInLink.use();
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
    signInLink.take();
    await signInLink.use();
    expect(session.credential()).toBe(credential);
    expect(questions).toEqual([expect.stringContaining('somebody else')]);
    expect(calls.at(-1)).toEqual(['/v2/workspace', 'Bearer new']);
  },
);

it('opens the page that a person left for the identity provider, without asking again', () => {
  stored.set('model-router-left-from', '/console/usage?by=day');
  signInLink.take();
  expect([signInLink.isExpected(), addresses, [...stored.keys()]]).toEqual([
    true,
    ['/console/usage?by=day'],
    [],
  ]);
  signInLink.dismiss();
  signInLink.take();
  expect(signInLink.isExpected()).toBe(false);
  signInLink.dismiss();
});

it('takes the reason of a refused sign-in out of the address', () => {
  location.hash = '#sign-in=noRole';
  signInLink.take();
  expect([signInLink.code(), session.notice(), addresses]).toEqual([null, 'noRole', ['/console/']]);
  location.hash = '#code=c';
});
