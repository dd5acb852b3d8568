import { type Child, openChild } from './child.ts';

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  calls(): Promise<number>;
  setDelay(ms: number): Promise<void>;
}

export async function openUpstream(): Promise<Upstream> {
  const child: Child = await openChild({
    script: 'bench/upstream.ts',
    readyPath: '/control/calls',
  });
  const control = async (path: string) =>
    Number(await (await fetch(`${child.url}/control/${path}`)).text());
  return {
    url: child.url,
    calls: () => control('calls'),
    setDelay: async (ms) => void (await control(`delay/${ms}`)),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
