import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { once, turn } from './api';
import { usePage } from './context';
import { PaneHead } from './PaneHead';
import type { Word } from './words';

const GROUPS: [Word, string[]][] = [
  ['troubleSlack', ['rate_limited', 'server_error', 'lost_answer', 'slow_slack']],
  ['troubleModel', ['pretend_model', 'slow_model', 'stream_rate_limited', 'expired_stream']],
  ['troubleApp', ['drop_connections', 'refresh_connections', 'freeze', 'restart']],
];

/** Switches that let things go wrong. */
export function Trouble(): VNode {
  const { seen, say } = usePage();
  return (
    <>
      <PaneHead focused>{say('trouble')}</PaneHead>
      <div class="scroll trouble" tabIndex={0} role="region" aria-label={say('trouble')}>
        <p>{say('troubleIntro')}</p>
        {GROUPS.map(([title, names]) => (
          <section key={title}>
            <h3>{say(title)}</h3>
            {names.map((name) => {
              if (name in seen.switches) return <Switch name={name} key={name} />;
              return seen.once.includes(name) && <Once name={name} key={name} />;
            })}
          </section>
        ))}
        {seen.problems.length > 0 && (
          <section>
            <h3>{say('problems')}</h3>
            <ul>
              {seen.problems.map((problem) => (
                <li>{problem}</li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </>
  );
}

function Switch({ name }: { name: string }): VNode {
  const { seen, say, toast } = usePage();
  // Shown at once: some take a while to happen, and to be seen from here.
  const [wanted, setWanted] = useState<boolean | null>(null);
  const [sent, setSent] = useState(false);
  const on = seen.switches[name];
  const idle = seen.need_model.includes(name) && !on;
  const busy = sent || (wanted !== null && wanted !== on);
  const change = (): void => {
    setWanted(!on);
    setSent(true);
    turn(name, !on)
      .catch((failure: Error) => {
        setWanted(null);
        toast(failure.message);
      })
      .finally(() => setSent(false));
  };
  return (
    <label class={`switch ${idle ? 'idle' : ''}`}>
      <input
        type="checkbox"
        role="switch"
        checked={busy ? (wanted ?? on) : on}
        disabled={idle || busy}
        aria-busy={busy}
        aria-describedby={`switch-${name}`}
        onChange={change}
      />
      <span>
        {say(`switch_${name}` as Word)}
        <small id={`switch-${name}`}>{say(idle ? 'switchIdle' : (`see_${name}` as Word))}</small>
      </span>
    </label>
  );
}

function Once({ name }: { name: string }): VNode {
  const { say, toast } = usePage();
  const [busy, setBusy] = useState(false);
  const happen = (): void => {
    setBusy(true);
    once(name)
      .catch((failure: Error) => toast(failure.message))
      .finally(() => setBusy(false));
  };
  return (
    <div class="once">
      <span>
        {say(`once_${name}` as Word)}
        <small id={`once-${name}`}>{say(`see_${name}` as Word)}</small>
      </span>
      <button
        type="button"
        class="button small"
        disabled={busy}
        aria-busy={busy}
        aria-label={`${say('now')} : ${say(`once_${name}` as Word)}`}
        aria-describedby={`once-${name}`}
        onClick={happen}
      >
        {say('now')}
      </button>
    </div>
  );
}
