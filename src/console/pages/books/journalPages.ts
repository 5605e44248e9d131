/** The journal of an organisation, page by page, with what its pool has beside the first page. */
import { Effect } from "effect"
import { type ListPage, usePages } from "../../gateway/hooks.tsx"
import type { JournalLine } from "./balanceHistory.ts"

interface Present {
  readonly at: string
  readonly balance: string
  readonly held: string
  readonly currency: string
}

export interface JournalPage extends ListPage<JournalLine> {
  /** Of the first page. */
  readonly present: Present | null
}

const LIMIT = 100
/** Orders that come meanwhile move the pool between two questions. */
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
        const read = yield* page
        const { balance, held, currency } = yield* pool
        if ((balance === before.balance && held === before.held) || times === TIMES) {
          return { ...read, present: { at: new Date().toISOString(), balance, held, currency } }
        }
        before = { ...before, balance, held }
      }
    })
  )
