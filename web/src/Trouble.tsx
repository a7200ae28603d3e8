import type { VNode } from 'preact';
import { once, turn } from './api';
import { usePage } from './context';
import type { Word } from './words';

/** Switches that let things go wrong. */
export function Trouble(): VNode {
  const { seen, say, show, toast } = usePage();
  const complain = (failure: Error): void => toast(failure.message);
  return (
    <>
      <header class="pane-head">
        <h2>{say('trouble')}</h2>
        <button type="button" class="icon close" aria-label={say('close')} onClick={() => show(null)}>
          ✕
        </button>
      </header>
      <div class="scroll trouble">
        <p>{say('troubleIntro')}</p>
        {Object.entries(seen.switches).map(([name, on]) => (
          <label class="switch">
            <input
              type="checkbox"
              role="switch"
              checked={on}
              onChange={() => turn(name, !on).catch(complain)}
            />
            <span>{say(`switch_${name}` as Word)}</span>
          </label>
        ))}
        {seen.once.map((name) => (
          <button type="button" class="button wide" onClick={() => once(name).catch(complain)}>
            {say(`once_${name}` as Word)}
          </button>
        ))}
        {seen.problems.length > 0 && (
          <>
            <h3>{say('problems')}</h3>
            <ul>
              {seen.problems.map((problem) => (
                <li>{problem}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </>
  );
}
