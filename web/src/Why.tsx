// Why a question was answered as it was, as a picture: what was looked for, what each leg found,
// how it was merged, what the gate let through, what the support check made of it.

import type { VNode } from 'preact';
import { usePage } from './context';
import type { Json } from './types';
import type { Say, Word } from './words';

export function Why({ explanation: all }: { explanation: Json }): VNode {
  const { say } = usePage();
  const { words, passages, attempts, text, language } = all.explanation;
  const last = attempts.at(-1);
  const rarest = Math.max(0.1, ...words.map((word: Json) => word.idf));
  return (
    <div class="why">
      <section>
        <p class={`verdict ${all.abstained ? 'no' : 'yes'}`}>
          {say(all.abstained ? 'whyAbstained' : 'whyAnswered')}
        </p>
        {last?.threshold != null && <Probability attempt={last} />}
        {last && last.generator !== 'extractive' && <p class="dim">{say('whyModelAgain')}</p>}
      </section>
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
              <Bar share={word.known ? word.idf / rarest : 0} label={`${word.word}: ${say('whyRarity')}`} />
              <span class="number">{word.known ? word.idf.toFixed(1) : say('whyUnknown')}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{say('whyPassages')}</h3>
        <p class="dim">{say(passages.length > 0 ? 'whyScale' : 'whyNoPassage')}</p>
        <Passages passages={passages} />
      </section>
      {attempts.map((attempt: Json, index: number) => (
        <Attempt attempt={attempt} cited={index === attempts.length - 1 ? all.citations : []} />
      ))}
      <p class="dim">
        {say('whyTimings', {
          stages: Object.entries(all.timings_ms ?? {})
            .map(([stage, ms]) => `${stage} ${Math.round(ms as number)} ms`)
            .join(' · '),
        })}
      </p>
    </div>
  );
}

/** A bar that is filled to a share of it; `kind` colours it. */
function Bar({ share, label, kind = '' }: { share: number; label: string; kind?: string }): VNode {
  const width = `${Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10}%`;
  return (
    <span class={`bar ${kind}`} role="img" aria-label={label}>
      <span style={{ width }} />
    </span>
  );
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function Probability({ attempt }: { attempt: Json }): VNode {
  const { say } = usePage();
  const words = say('whyProbability', {
    probability: percent(attempt.probability),
    threshold: percent(attempt.threshold),
  });
  return (
    <div class="probability" role="img" aria-label={words}>
      <div class="scale">
        <span
          class={attempt.probability >= attempt.threshold ? 'yes' : 'no'}
          style={{ width: `${attempt.probability * 100}%` }}
        />
        <i style={{ left: `${attempt.threshold * 100}%` }} />
      </div>
      <span class="dim">{words}</span>
    </div>
  );
}

const SHOWN = 3;

interface Stage {
  word: Word;
  kind: string;
  score: (passage: Json) => number | null;
  rank: (passage: Json) => number | null;
}

const sum = (parts: Json): number =>
  Object.values(parts as Record<string, number>).reduce((all, part) => all + part, 0);

/** Where a passage stands by a score of all of them. */
const placeBy = (passages: Json[], key: string) => (passage: Json): number =>
  1 + passages.filter((other) => other[key] > passage[key]).length;

function stagesOf(passages: Json[]): Stage[] {
  const stages: Stage[] = [
    {
      word: 'whyKeywords',
      kind: 'keywords',
      score: (passage) => (passage.legs.keyword == null ? null : sum(passage.terms)),
      rank: (passage) => passage.legs.keyword,
    },
    {
      word: 'whyVectors',
      kind: 'vectors',
      score: (passage) => passage.signals.cosine ?? null,
      rank: (passage) => passage.legs.vector,
    },
    {
      word: 'whyFusion',
      kind: 'fused',
      score: (passage) => passage.first_stage,
      rank: placeBy(passages, 'first_stage'),
    },
    {
      word: 'whyReranked',
      kind: 'reranked',
      score: (passage) => passage.second_stage,
      rank: (passage) => passage.rank,
    },
  ];
  return stages.filter(({ score }) => passages.some((passage) => score(passage) != null));
}

function Passages({ passages }: { passages: Json[] }): VNode {
  const { say } = usePage();
  const stages = stagesOf(passages);
  const ranges = stages.map(({ score }) => {
    const scores = passages.map(score).filter((value) => value != null);
    return [Math.min(...scores), Math.max(...scores)];
  });
  const card = (passage: Json): VNode => (
    <li class="found" key={passage.chunk_id}>
      <div class="found-head">
        <span class="rank">{passage.rank}</span>
        <span>
          <strong>{passage.heading || passage.page}</strong>
          {passage.heading && <span class="dim"> {passage.page}</span>}
        </span>
      </div>
      <ul class="stages">
        {stages.map(({ word, kind, score, rank }, index) => {
          const value = score(passage);
          const place = rank(passage);
          const [low, high] = ranges[index];
          // Never empty: the last one found was found all the same.
          const share = value == null ? 0 : high > low ? 0.06 + (0.94 * (value - low)) / (high - low) : 1;
          const told = value == null ? '–' : value.toFixed(kind === 'keywords' ? 1 : 3);
          return (
            <li>
              <span>{say(word)}</span>
              <span class="place">{place == null ? '–' : `#${place}`}</span>
              <Bar share={share} kind={kind} label={`${say(word)}: ${told}`} />
              <span class="number">{told}</span>
            </li>
          );
        })}
      </ul>
      <div class="dim terms">
        {Object.entries(passage.terms as Record<string, number>)
          .map(([term, given]) => `${term} ${given.toFixed(1)}`)
          .join(' + ')}
      </div>
    </li>
  );
  return (
    <>
      <ol>{passages.slice(0, SHOWN).map(card)}</ol>
      {passages.length > SHOWN && (
        <details>
          <summary>{say('more', { n: passages.length - SHOWN })}</summary>
          <ol>{passages.slice(SHOWN).map(card)}</ol>
        </details>
      )}
    </>
  );
}

function Attempt({ attempt, cited }: { attempt: Json; cited: Json[] }): VNode {
  const { say } = usePage();
  const generator = attempt.generator === 'extractive' ? say('whyQuotes') : attempt.generator;
  return (
    <section>
      <h3>
        {say('whyGate')} <span class="dim">{generator}</span>
      </h3>
      {attempt.degraded && <p class="unknown">{attempt.degraded}</p>}
      <ul class="sentences">
        {attempt.passed.map((sentence: string, index: number) => (
          <li class="yes">
            <span>
              {sentence} <small>{cited[index] && placeOf(cited[index])}</small>
            </span>
          </li>
        ))}
        {attempt.refused.map((refused: Json) => (
          <li class="no">
            <span>
              <s>{refused.sentence}</s> <small>{refused.reason}</small>
            </span>
          </li>
        ))}
        {attempt.reasons.map((reason: string) => (
          <li class="no">
            <span>{reason}</span>
          </li>
        ))}
      </ul>
      <Support attempt={attempt} />
    </section>
  );
}

/** What a signal looks at, in words; its own name where there are none. */
const nameOf = (signal: string, say: Say): string =>
  say(`signal_${signal}` as Word).replace(/^signal_/, '');

const placeOf = (citation: Json): string =>
  `→ ${[citation.title, citation.heading].filter(Boolean).join(' › ')}`;

/** What each signal adds, from where everything starts to the probability. */
function Support({ attempt }: { attempt: Json }): VNode | null {
  const { say } = usePage();
  const given = attempt.signals
    .map((signal: Json) => ({ ...signal, gives: signal.value * signal.weight }))
    .filter((signal: Json) => Math.abs(signal.gives) >= 0.005);
  const { probability } = attempt;
  if (given.length === 0 || probability <= 0 || probability >= 1) return null;
  // The model starts below zero; that start is what its other parts leave of the whole.
  const total = Math.log(probability / (1 - probability));
  const start = total - given.reduce((all: number, signal: Json) => all + signal.gives, 0);
  const rows: { label: string; gives: number; title: string; kind?: string }[] = [
    { label: say('whyStart'), gives: start, title: start.toFixed(2) },
    ...given.map((signal: Json) => ({
      label: nameOf(signal.name, say),
      gives: signal.gives,
      title: `${signal.name}: ${signal.value.toFixed(2)} × ${signal.weight.toFixed(2)}`,
    })),
    { label: `= ${percent(probability)}`, gives: total, title: total.toFixed(2), kind: 'total' },
  ];
  const most = Math.max(...rows.map((row) => Math.abs(row.gives)));
  return (
    <>
      <h3>{say('whySupport')}</h3>
      <ul class="signals">
        {rows.map(({ label, gives, title, kind }) => {
          const width = `${(Math.abs(gives) / most) * 50}%`;
          return (
            <li class={kind}>
              <span class="what">{label}</span>
              <span class="diverging" role="img" aria-label={title} title={title}>
                <span
                  class={gives < 0 ? 'no' : 'yes'}
                  style={gives < 0 ? { right: '50%', width } : { left: '50%', width }}
                />
              </span>
              <span class="number">
                {gives > 0 && '+'}
                {gives.toFixed(2)}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}
