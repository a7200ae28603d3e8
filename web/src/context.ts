// What every component may need: who one is, what one sees, how to say and do things.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Channel, Json, Message, Place, Seen, Side, User, World } from './types';
import type { Say } from './words';

export interface Page {
  world: World;
  seen: Seen;
  say: Say;
  act: (action: string, fields?: Json) => Promise<Json>;
  go: (place: Place) => void;
  show: (side: Side | null) => void;
  toast: (text: string) => void;
  openLink: (url: string) => boolean;
}

export const PageContext = createContext<Page>(null as unknown as Page);
export const usePage = (): Page => useContext(PageContext);

export const userOf = (seen: Seen, id: string): User | undefined =>
  seen.users.find((user) => user.id === id);

export const channelOf = (seen: Seen, id: string): Channel | undefined =>
  seen.channels.find((channel) => channel.id === id);

export const isReply = (message: Message): boolean =>
  !!message.thread_ts && message.thread_ts !== message.ts;

export function placeName(seen: Seen, channel: Channel): string {
  return channel.kind === 'im' ? seen.app.name : `#${channel.name}`;
}

export function timeOf(seen: Seen, ts: string): string {
  const { locale, tz } = seen.me;
  return new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit', timeZone: tz }).format(
    Number(ts) * 1000,
  );
}

export function dayOf(seen: Seen, ts: string, say: Say): string {
  const { locale, tz } = seen.me;
  const day = (moment: number): string =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: tz }).format(moment);
  const own = day(Number(ts) * 1000);
  if (own === day(Date.now())) return say('today');
  if (own === day(Date.now() - 86_400_000)) return say('yesterday');
  return own;
}
