import type { VNode } from 'preact';
import type { Json } from './types';

/** Why a question was answered as it was. */
export function Why({ explanation }: { explanation: Json }): VNode {
  return <pre class="code">{JSON.stringify(explanation, null, 2)}</pre>;
}
