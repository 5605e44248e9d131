/** Every provocation, in an order that leaves the slow ones to the end. */
import { keyRows } from "./key.rows.ts"
import { limitRows } from "./limit.rows.ts"
import { modalityRows } from "./modality.rows.ts"
import { moneyRows } from "./money.rows.ts"
import { mountRows } from "./mount.rows.ts"
import { orderRows } from "./order.rows.ts"
import type { Row } from "./Row.ts"
import { repeatRows } from "./repeat.rows.ts"
import { requestRows } from "./request.rows.ts"
import { upstreamRows } from "./upstream.rows.ts"
import { videoRows } from "./video.rows.ts"

export const codeRows: ReadonlyArray<Row> = [
  ...keyRows,
  ...requestRows,
  ...modalityRows,
  ...mountRows,
  ...videoRows,
  ...moneyRows,
  ...repeatRows,
  ...orderRows,
  ...upstreamRows,
  ...limitRows
]
