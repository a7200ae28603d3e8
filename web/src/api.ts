// The page's only conversation partner: the server that served it, at addresses relative to it.

import type { Json, Seen, World } from './types';

async function read(response: Response): Promise<Json> {
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}

function post(path: string, fields: Json): Promise<Json> {
  return fetch(path, { method: 'POST', body: JSON.stringify(fields) }).then(read);
}

export const getWorld = (): Promise<World> => fetch('api/world').then(read);

export const act = (action: string, as: string, fields: Json = {}): Promise<Json> =>
  post(`api/act/${action}`, { as, ...fields });

export const turn = (name: string, on: boolean): Promise<Json> => post('api/switch', { name, on });

export const once = (name: string): Promise<Json> => post('api/switch', { name });

export const behind = (query: Record<string, string>): Promise<Json> =>
  fetch(`api/behind?${new URLSearchParams(query)}`).then(read);

export const why = (query: Record<string, string>): Promise<Json> =>
  fetch(`api/why?${new URLSearchParams(query)}`).then(read);

export const sourceAddress = (url: string): string => `api/source?${new URLSearchParams({ url })}`;

export async function getSource(url: string): Promise<{ name: string; text: string | null }> {
  const response = await fetch(sourceAddress(url));
  if (!response.ok) await read(response);
  const name = JSON.parse(response.headers.get('X-Page-Name') ?? '""');
  const isText = response.headers.get('Content-Type')?.startsWith('text/plain');
  return { name, text: isText ? await response.text() : null };
}

/** Calls `show` with everything a person sees, again after each change, until closed. */
export function follow(
  as: string,
  show: (seen: Seen) => void,
  reachable: (ok: boolean) => void,
): () => void {
  const stream = new EventSource(`api/live?${new URLSearchParams({ as })}`);
  stream.onopen = () => reachable(true);
  stream.onerror = () => reachable(false);
  stream.onmessage = (event) => show(JSON.parse(event.data));
  return () => stream.close();
}
