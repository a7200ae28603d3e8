import type { VNode } from 'preact';
import { usePage, userOf } from './context';

const COLOURS = ['#7a4b94', '#0f6e6e', '#a8471f', '#1d5c99', '#7a6210', '#9c2f5b', '#3b6b2f'];

/** The square beside a name; decoration only, the name says it all. */
export function Avatar({ id, size = 36 }: { id: string; size?: number }): VNode {
  const { seen } = usePage();
  const user = userOf(seen, id);
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${size * 0.42}px` };
  if (id === seen.app.user_id) {
    return (
      <span class="avatar app" style={style} aria-hidden="true">
        <img src="icon.svg" alt="" width={size} height={size} />
      </span>
    );
  }
  const initials = (user?.real_name ?? '?').split(/\s+/).map((part) => part[0]).slice(0, 2).join('');
  const index = seen.users.findIndex((one) => one.id === id);
  return (
    <span
      class="avatar"
      style={{ ...style, background: COLOURS[(index + COLOURS.length) % COLOURS.length] }}
      aria-hidden="true"
    >
      {initials}
    </span>
  );
}
