// What the stand-in sends; blocks stay untyped, since the page must show whatever an app sends.

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface User {
  id: string;
  name: string;
  real_name: string;
  role: string;
  is_guest: boolean;
  is_bot: boolean;
  locale: string;
  tz: string;
}

export interface Message {
  ts: string;
  channel: string;
  user: string;
  text: string;
  blocks?: Json[];
  attachments?: Json[];
  files?: Json[];
  bot_id?: string;
  subtype?: string;
  thread_ts?: string;
  reply_count?: number;
  reply_users?: string[];
  latest_reply?: string;
  edited?: { ts: string };
  reactions?: { name: string; users: string[]; count: number }[];
  is_ephemeral: boolean;
  streaming_state: string | null;
}

export interface Channel {
  id: string;
  name: string;
  kind: 'channel' | 'group' | 'im' | 'mpim';
  members: string[];
  has_app: boolean;
  messages: Message[];
}

export interface View {
  id: string;
  hash: string;
  type: 'modal' | 'home';
  title?: Json;
  submit?: Json;
  close?: Json;
  blocks: Json[];
  state: { values: Json };
  errors: Record<string, string>;
}

export interface Session {
  channel: string;
  thread_ts: string;
  status: string;
  title: string;
  loading: string;
  loading_messages: string[];
}

export interface App {
  user_id: string;
  name: string;
  description: string;
  home_tab: boolean;
  messages_tab: boolean;
  is_agent: boolean;
  is_connected: boolean;
  can_stop: boolean;
  commands: { command: string; description: string; usage_hint: string }[];
  shortcuts: { callback_id: string; name: string }[];
}

/** Everything one person sees. */
export interface Seen {
  change: number;
  me: User;
  team: { id: string; name: string };
  app: App;
  users: User[];
  channels: Channel[];
  direct: string;
  home: View | null;
  modals: View[];
  prompts: { title: string | null; prompts: { title: string; message: string }[] };
  sessions: Session[];
  notices: string[];
  problems: string[];
  switches: Record<string, boolean>;
  once: string[];
  /** Switches that change nothing while no model writes the answers. */
  need_model: string[];
}

export interface World {
  people: User[];
  can_explain: boolean;
  can_open_sources: boolean;
}

export type Place = { kind: 'channel'; id: string } | { kind: 'app'; tab: 'home' | 'messages' | 'about' };

export type Side =
  | { kind: 'thread'; channel: string; ts: string }
  | { kind: 'agent'; ts: string | null }
  | { kind: 'inspect'; channel: string; ts: string }
  | { kind: 'inspect-view'; view: string }
  | { kind: 'source'; url: string }
  | { kind: 'trouble' };
