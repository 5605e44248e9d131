/** Every provocation, in an order that leaves the slow ones to the end. */
import { keyRows } from "./key.rows.ts"
import { modalityRows } from "./modality.rows.ts"
import { moneyRows } from "./money.rows.ts"
import { mountRows } from "./mount.rows.ts"
import type { Row } from "./Row.ts"
import { videoRows } from "./video.rows.ts"

export const codeRows: ReadonlyArray<Row> = [
  ...keyRows,
  ...modalityRows,
  ...mountRows,
  ...videoRows,
  ...moneyRows
]
