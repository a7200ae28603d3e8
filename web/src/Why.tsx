// Why a question was answered as it was, as a picture: what was looked for, what each leg found,
// how it was merged, what the gate let through, what the support check made of it.

import type { VNode } from 'preact';
import { usePage } from './context';
import type { Json } from './types';

export function Why({ explanation: all }: { explanation: Json }): VNode {
  const { say } = usePage();
  const { words, passages, attempts, text, language } = all.explanation;
  const last = attempts.at(-1);
  const rarest = Math.max(0.1, ...words.map((word: Json) => word.idf));
  return (
    <div class="why">
      {last && (
        <section>
          <p class={`verdict ${all.abstained ? 'no' : 'yes'}`}>
            {say(all.abstained ? 'whyAbstained' : 'whyAnswered')}
          </p>
          {last.threshold != null && <Probability attempt={last} />}
        </section>
      )}
      <section>
        <h3>{say('whyWords')}</h3>
        <p class="dim">
          « {text} » · {language}
        </p>
        <ul class="bars">
          {words.map((word: Json) => (
            <li>
              <span>
                <strong>{word.word}</strong>
                {word.others.length > 0 && <span class="dim"> = {word.others.join(', ')}</span>}
              </span>
              <Bar value={word.idf} most={rarest} label={`${word.word}: ${say('whyRarity')}`} />
              <span class="number">{word.known ? word.idf.toFixed(1) : say('whyUnknown')}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{say('whyPassages')}</h3>
        <Passages passages={passages} />
      </section>
      {attempts.map((attempt: Json) => (
        <Attempt attempt={attempt} />
      ))}
      <p class="dim">
        {Object.entries(all.timings_ms ?? {})
          .map(([stage, ms]) => `${stage} ${Math.round(ms as number)} ms`)
          .join(' · ')}
      </p>
    </div>
  );
}

function Bar({ value, most, label }: { value: number; most: number; label: string }): VNode {
  return <meter value={Math.max(0, value)} max={most || 1} aria-label={label} />;
}

function Probability({ attempt }: { attempt: Json }): VNode {
  const { say } = usePage();
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const words = say('whyProbability', {
    probability: percent(attempt.probability),
    threshold: percent(attempt.threshold),
  });
  return (
    <div class="probability" role="img" aria-label={words}>
      <div class="scale">
        <span
          class={attempt.probability >= attempt.threshold ? 'yes' : 'no'}
          style={{ width: percent(attempt.probability).replace(' ', '') }}
        />
        <i style={{ left: percent(attempt.threshold).replace(' ', '') }} />
      </div>
      <span class="dim">{words}</span>
    </div>
  );
}

const SHOWN = 5;

function Passages({ passages }: { passages: Json[] }): VNode {
  const { say } = usePage();
  return (
    <>
      <PassageTable passages={passages.slice(0, SHOWN)} all={passages} />
      {passages.length > SHOWN && (
        <details>
          <summary>{say('more', { n: passages.length - SHOWN })}</summary>
          <PassageTable passages={passages.slice(SHOWN)} all={passages} />
        </details>
      )}
    </>
  );
}

function PassageTable({ passages, all }: { passages: Json[]; all: Json[] }): VNode {
  const { say } = usePage();
  const firstMost = Math.max(...all.map((passage) => passage.first_stage));
  const secondMost = Math.max(...all.map((passage) => passage.second_stage ?? 0));
  const place = (rank: number | null): string => (rank == null ? '–' : `#${rank}`);
  const score = (word: 'whyFusion' | 'whyReranked', value: number, most: number): VNode => (
    <div class="score">
      <span class="dim">{say(word)}</span>
      <span class="number">{value.toFixed(3)}</span>
      <Bar value={value} most={most} label={say(word)} />
    </div>
  );
  return (
    <div class="table" tabIndex={0} role="group" aria-label={say('whyPassages')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('whyPassage')}</th>
            <th scope="col">{say('whyKeywords')}</th>
            <th scope="col">{say('whyVectors')}</th>
            <th scope="col">{say('whyScores')}</th>
          </tr>
        </thead>
        <tbody>
          {passages.map((passage) => (
            <tr>
              <td>
                {passage.rank}. <strong>{passage.heading || passage.page}</strong>
                {passage.heading && <div class="dim">{passage.page}</div>}
                <div class="dim">
                  {Object.entries(passage.terms as Record<string, number>)
                    .map(([term, given]) => `${term} ${given.toFixed(1)}`)
                    .join(', ')}
                </div>
              </td>
              <td class="number">{place(passage.legs.keyword)}</td>
              <td class="number">{place(passage.legs.vector)}</td>
              <td>
                {score('whyFusion', passage.first_stage, firstMost)}
                {passage.second_stage != null && score('whyReranked', passage.second_stage, secondMost)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Attempt({ attempt }: { attempt: Json }): VNode {
  const { say } = usePage();
  const gives = (signal: Json): number => signal.value * signal.weight;
  const signals = attempt.signals.filter((signal: Json) => Math.abs(gives(signal)) >= 0.005);
  const most = Math.max(0.001, ...signals.map((signal: Json) => Math.abs(gives(signal))));
  return (
    <section>
      <h3>
        {say('whyGate')} <span class="dim">{attempt.generator}</span>
      </h3>
      {attempt.degraded && <p class="unknown">{attempt.degraded}</p>}
      <ul class="sentences">
        {attempt.passed.map((sentence: string) => (
          <li class="yes">{sentence}</li>
        ))}
        {attempt.refused.map((refused: Json) => (
          <li class="no">
            {refused.sentence} <span class="dim">{refused.reason}</span>
          </li>
        ))}
        {attempt.reasons.map((reason: string) => (
          <li class="no">{reason}</li>
        ))}
      </ul>
      {signals.length > 0 && (
        <>
          <h3>
            {say('whySupport')} <span class="dim">{attempt.support}</span>
          </h3>
          <ul class="signals">
            {signals.map((signal: Json) => {
              const given = gives(signal);
              const width = `${(Math.abs(given) / most) * 50}%`;
              const words = `${signal.name}: ${signal.value.toFixed(2)} × ${signal.weight.toFixed(2)}`;
              return (
                <li>
                  <span class="what">{signal.name}</span>
                  <span class="diverging" role="img" aria-label={words} title={words}>
                    <span
                      class={given < 0 ? 'no' : 'yes'}
                      style={given < 0 ? { right: '50%', width } : { left: '50%', width }}
                    />
                  </span>
                  <span class="number">{given.toFixed(2)}</span>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </section>
  );
}
