/** All rules that compare the records of both sides when nothing changes any more. */
import type { Books } from "../books.ts"
import type { Witness } from "../witness.ts"
import { judgeAnswers } from "./answers.ts"
import { judgeCancels } from "./cancels.ts"
import { judgeImages, judgeTexts } from "./images.ts"
import { judgeLedger } from "./ledger.ts"
import { judgeOffice } from "./office.ts"
import { judgePlaces } from "./places.ts"
import { judgeKeyedRefunds, judgeRefunds } from "./refunds.ts"
import { judgeRepeats, judgeVideos } from "./vendors.ts"
import type { Verdict } from "./verdict.ts"
import { judgeWebhooks } from "./webhooks.ts"

/** `keysCount`: whether one idempotency key has to be at most one job. */
export const judgeRecords = (
  books: Books,
  witness: Witness,
  keysCount: boolean
): ReadonlyArray<Verdict> => [
  ...judgeLedger(books),
  judgeRefunds(books, witness),
  judgeKeyedRefunds(books, witness),
  ...judgeAnswers(books, witness),
  ...judgeImages(books, witness),
  ...judgeTexts(books, witness),
  ...judgeRepeats(books, witness, keysCount),
  ...judgeVideos(books, witness),
  ...judgeCancels(books, witness),
  ...judgePlaces(books, witness),
  ...judgeOffice(books, witness),
  ...judgeWebhooks(books, witness)
]
