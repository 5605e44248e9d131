import { Effect } from "effect"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { cutPage, type Page, type PageRequest, unknownCursor } from "../../runtime/Page.ts"

/**
 * One page of a list that is kept oldest first, newest first. The cursor may be any entry of the
 * list, also one that is not shown.
 */
export const pageOf = <A extends { readonly id: string }>(
  entries: ReadonlyArray<A>,
  { after, limit }: PageRequest,
  isShown: (entry: A) => boolean = () => true
): Effect.Effect<Page<A>, InvalidRequest> => {
  const newest = entries.toReversed()
  const last = after === null ? -1 : newest.findIndex(({ id }) => id === after)
  if (after !== null && last < 0) return Effect.fail(unknownCursor)
  const shown = newest.slice(last + 1).filter(isShown)
  return Effect.succeed(cutPage(shown.slice(0, limit + 1), limit))
}
