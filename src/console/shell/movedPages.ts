/** The addresses of pages that have moved, which are still in bookmarks and links. */

/** The first pattern that matches a path decides; the rest of the path is kept. */
const moves: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\/access\/operators/, "/operators"],
  [/^\/access\/audit/, "/operators/audit"],
  [/^\/access\/webhooks\/operators/, "/operators/webhooks"],
  [/^\/access\/webhooks\/([^/]+)/, "/customers/$1/webhooks"],
  [/^\/access\/webhooks/, "/operators/webhooks"],
  [/^\/access\/organizations/, "/customers"],
  [/^\/access/, "/customers"],
  [/^\/books\/organizations\/([^/]+)\/(budgets|statements)/, "/customers/$1/$2"],
  [/^\/books\/organizations\/([^/]+)/, "/customers/$1/money"]
]

/** The present address of a path that has moved; null for any other path. */
export const movedAddress = (path: string): string | null => {
  const move = moves.find(([pattern]) => pattern.test(path))
  return move === undefined ? null : path.replace(...move)
}
