import './page.css';
import { render, type VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { act as send, follow, getWorld } from './api';
import { AgentPane, AppPlace } from './AppPlace';
import { channelOf, PageContext, type Page } from './context';
import { ChannelView, ThreadPane } from './Conversation';
import { Inspector } from './Inspector';
import { Modal } from './Modal';
import { Sidebar } from './Sidebar';
import { SourcePane } from './SourcePane';
import { Trouble } from './Trouble';
import type { Channel, Json, Place, Seen, Side, User, World } from './types';
import { wordsFor, type Word } from './words';

const HANDBOOK = 'https://handbook.example.com/';
const TOAST_MS = 6_000;

function Sandbox({ world }: { world: World }): VNode | null {
  const [as, setAs] = useState(() => sessionStorage.getItem('as') ?? world.people[0].id);
  const known = world.people.some((person) => person.id === as);
  const who = known ? as : world.people[0].id;
  const [seen, setSeen] = useState<Seen | null>(null);
  const [reachable, setReachable] = useState(true);
  const [place, setPlace] = useState<Place | null>(null);
  const [side, setSide] = useState<Side | null>(null);
  const [toasts, setToasts] = useState<{ id: number; text: string }[]>([]);
  const [away, setAway] = useState(true);
  const read = useRef<Record<string, string>>({});
  const noticed = useRef<Record<string, number>>({});
  const lastCommand = useRef('');

  useEffect(() => {
    setSeen(null);
    sessionStorage.setItem('as', who);
    return follow(who, setSeen, setReachable);
  }, [who]);

  const toast = useCallback((text: string) => {
    const id = Date.now() + Math.random();
    setToasts((shown) => [...shown, { id, text }]);
    setTimeout(() => setToasts((shown) => shown.filter((one) => one.id !== id)), TOAST_MS);
  }, []);

  // What Slack itself tells a person, as it happens.
  useEffect(() => {
    if (!seen) return;
    const before = noticed.current[seen.me.id] ?? seen.notices.length;
    const say = wordsFor(seen.me.locale);
    for (const notice of seen.notices.slice(before)) {
      toast(say(`notice_${notice}` as Word, { command: lastCommand.current }));
    }
    noticed.current[seen.me.id] = seen.notices.length;
  }, [seen?.notices.length, seen?.me.id]);

  if (!seen) return <p class="starting">{reachable ? '…' : wordsFor('en')('reload')}</p>;

  const say = wordsFor(seen.me.locale);
  const general = seen.channels.find((channel) => channel.kind !== 'im');
  const wanted: Place = place ?? { kind: 'channel', id: general?.id ?? '' };
  const here: Place =
    wanted.kind === 'channel' && !channelOf(seen, wanted.id) && general
      ? { kind: 'channel', id: general.id }
      : wanted;
  const page: Page = {
    world,
    seen,
    say,
    toast,
    act: async (action: string, fields: Json = {}) => {
      if (action === 'slash') lastCommand.current = fields.command;
      try {
        return await send(action, who, fields);
      } catch (failure) {
        toast((failure as Error).message);
        return { state: 'refused' };
      }
    },
    go: (next) => {
      setPlace(next);
      setAway(false);
      setSide((open) => (open?.kind === 'trouble' || open?.kind === 'agent' ? open : null));
    },
    show: setSide,
    openLink: (url) => {
      if (!world.can_open_sources || !url.startsWith(HANDBOOK)) return false;
      setSide({ kind: 'source', url });
      return true;
    },
  };
  const key = (channel: Channel): string => `${who} ${channel.id}`;
  const newestOf = (channel: Channel): string => channel.messages.at(-1)?.ts ?? '';
  const open = here.kind === 'channel' ? channelOf(seen, here.id) : channelOf(seen, seen.direct);
  if (open) read.current[key(open)] = newestOf(open);
  const isUnread = (channel: Channel): boolean => {
    read.current[key(channel)] ??= newestOf(channel);
    return newestOf(channel) > read.current[key(channel)];
  };
  const channel = here.kind === 'channel' ? channelOf(seen, here.id) : undefined;
  document.documentElement.lang = seen.me.locale.slice(0, 2);
  document.title = `${channel ? `#${channel.name}` : seen.app.name} · ${seen.team.name}`;
  const modal = seen.modals.at(-1);
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main">
        {say('skip')}
      </a>
      <div class={`layout ${side ? 'with-side' : ''} ${away ? 'away' : ''}`}>
        <header class="topbar">
          <span class="brand">
            <img src="icon.svg" alt="" width="22" height="22" /> {seen.app.name} <small>sandbox</small>
          </span>
          <PersonSwitch
            people={seen.users.filter((user) => !user.is_bot)}
            me={seen.me}
            onChoose={(id) => {
              setSide(null);
              setAs(id);
            }}
          />
        </header>
        <Sidebar place={here} isUnread={isUnread} />
        <main id="main" class="main" tabIndex={-1}>
          {!reachable && (
            <div class="banner lost" role="alert">
              {say('reconnecting')} {say('reload')}
            </div>
          )}
          {here.kind === 'app' ? (
            <AppPlace tab={here.tab} onBack={() => setAway(true)} key={who} />
          ) : (
            channel && <ChannelView channel={channel} onBack={() => setAway(true)} />
          )}
        </main>
        {side && (
          <aside class="side" aria-label={sideLabel(side, page)}>
            {side.kind === 'thread' && <ThreadPane channel={side.channel} ts={side.ts} />}
            {side.kind === 'agent' && <AgentPane ts={side.ts} />}
            {side.kind === 'inspect' && (
              <Inspector query={{ channel: side.channel, ts: side.ts }} canExplain={world.can_explain} />
            )}
            {side.kind === 'inspect-view' && (
              <Inspector query={{ view: side.view }} canExplain={world.can_explain} />
            )}
            {side.kind === 'source' && <SourcePane url={side.url} />}
            {side.kind === 'trouble' && <Trouble />}
          </aside>
        )}
      </div>
      {modal && <Modal view={modal} key={modal.id} />}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.map((one) => (
          <div class="toast" key={one.id}>
            {one.text}
          </div>
        ))}
      </div>
    </PageContext.Provider>
  );
}

function sideLabel(side: Side, { say, seen }: Page): string {
  switch (side.kind) {
    case 'thread':
      return say('thread');
    case 'agent':
      return seen.app.name;
    case 'source':
      return say('source');
    case 'trouble':
      return say('trouble');
    default:
      return say('inspect');
  }
}

function PersonSwitch({
  people,
  me,
  onChoose,
}: {
  people: User[];
  me: User;
  onChoose: (id: string) => void;
}): VNode {
  const say = wordsFor(me.locale);
  const role = (user: User): string => {
    if (user.is_guest) return say('guest');
    return say(user.role === 'primary_owner' ? 'owner' : (user.role as Word));
  };
  return (
    <label class="person">
      <span>{say('choosePerson')}</span>
      <select
        value={me.id}
        aria-label={say('choosePerson')}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {people.map((user) => (
          <option value={user.id}>
            {user.real_name} · {role(user)} · {user.locale.slice(0, 2)}
          </option>
        ))}
      </select>
    </label>
  );
}

const root = document.getElementById('page');
if (root) {
  getWorld()
    .then((world) => render(<Sandbox world={world} />, root))
    .catch((failure: Error) => {
      root.textContent = failure.message;
    });
}
