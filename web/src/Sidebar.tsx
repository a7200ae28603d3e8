import type { VNode } from 'preact';
import { Avatar } from './Avatar';
import { usePage } from './context';
import type { Channel, Place } from './types';

interface Props {
  place: Place;
  isUnread: (channel: Channel) => boolean;
}

export function Sidebar({ place, isUnread }: Props): VNode {
  const { seen, say, go, show } = usePage();
  const direct = seen.channels.find((channel) => channel.id === seen.direct);
  const troubled = Object.values(seen.switches).some(Boolean);
  const entry = (channel: Channel): VNode => {
    const current = place.kind === 'channel' && place.id === channel.id;
    return (
      <li>
        <button
          type="button"
          class={isUnread(channel) ? 'unread' : ''}
          aria-current={current ? 'page' : undefined}
          onClick={() => go({ kind: 'channel', id: channel.id })}
        >
          <span class="sign" aria-hidden="true">
            {channel.kind === 'group' ? '🔒' : '#'}
          </span>
          {channel.name}
        </button>
      </li>
    );
  };
  return (
    <nav class="sidebar" aria-label={seen.team.name}>
      <div class="team">{seen.team.name}</div>
      <h2>{say('channels')}</h2>
      <ul>{seen.channels.filter((channel) => channel.kind !== 'im').map(entry)}</ul>
      <h2>{say('apps')}</h2>
      <ul>
        <li>
          <button
            type="button"
            class={direct && isUnread(direct) ? 'unread' : ''}
            aria-current={place.kind === 'app' ? 'page' : undefined}
            onClick={() => go({ kind: 'app', tab: 'messages' })}
          >
            <Avatar id={seen.app.user_id} size={20} />
            {seen.app.name}
            <span
              class={`presence ${seen.app.is_connected ? 'on' : ''}`}
              role="img"
              aria-label={say(seen.app.is_connected ? 'connected' : 'disconnected')}
              title={say(seen.app.is_connected ? 'connected' : 'disconnected')}
            />
          </button>
        </li>
      </ul>
      <div class="sidebar-foot">
        <button type="button" class={troubled ? 'unread' : ''} onClick={() => show({ kind: 'trouble' })}>
          <span class="sign" aria-hidden="true">
            ⚡
          </span>
          {say('trouble')}
          {seen.problems.length > 0 && <span class="count">{seen.problems.length}</span>}
        </button>
      </div>
    </nav>
  );
}
