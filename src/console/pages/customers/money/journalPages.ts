/** The journal of an organisation with pagination. Its first page includes the present balance. */
import { Effect } from "effect"
import { type ListPage, usePages } from "../../../gateway/hooks.tsx"
import type { JournalLine } from "./balanceHistory.ts"

interface Present {
  readonly at: string
  readonly balance: string
  readonly held: string
  readonly currency: string
}

export interface JournalPage extends ListPage<JournalLine> {
  /** The present balance; only the first page has one. */
  readonly present: Present | null
}

const LIMIT = 100
/**
 * The maximum number of times that the first page is read. It is read again when the balance or the
 * holds changed during the read, because the page and the balance have to belong together.
 */
const TIMES = 5

export const useJournal = (id: string) =>
  usePages<JournalLine, JournalPage, unknown>(["books", id, "journal"], (after) =>
    Effect.fnUntraced(function* (gateway) {
      const params = { id }
      const page = gateway.admin.readLedger({ params, query: { ...after, limit: LIMIT } })
      if (after.after !== undefined) return { ...(yield* page), present: null }
      const pool = gateway.accounts.readOrganization({ params })
      let before = yield* pool
      for (let times = 1; ; times++) {
        const result = yield* page
        const { balance, held, currency } = yield* pool
        if ((balance === before.balance && held === before.held) || times === TIMES) {
          return { ...result, present: { at: new Date().toISOString(), balance, held, currency } }
        }
        before = { ...before, balance, held }
      }
    })
  )
