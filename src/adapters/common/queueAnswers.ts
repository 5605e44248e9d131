/** Reads the answers of a vendor that a document describes. */
import { Predicate, Schema } from "effect"
import { JobId, WebAddress } from "../../domain/plainText.ts"
import { fieldNameOf, valuesAt } from "../../domain/queue/jsonPointer.ts"
import type { QueueDocument } from "../../domain/queue/QueueDocument.ts"
import type { VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"
import {
  meaningOf,
  meanings,
  type RefusalTable,
  refusalTable,
  type Shape
} from "../wire/refusalTable.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { refusal, unusableAnswer } from "../wire/vendorFailures.ts"
import type { StatusNames } from "./videoStatus.ts"

const isJobId = Schema.is(JobId)
const isAddress = Schema.is(WebAddress)

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The values of the first place that has any of the kind. */
const firstAt = <A>(
  body: unknown,
  places: ReadonlyArray<string>,
  isUsable: (value: unknown) => value is A
): ReadonlyArray<A> => {
  for (const place of places) {
    const values = valuesAt(body, place).filter(isUsable)
    if (values.length > 0) return values
  }
  return []
}

/** A text or a number as a text. */
const isCode = (value: unknown): value is string | number =>
  isText(value) || typeof value === "number"

/** The first text at one of the places. */
const textAt = (body: unknown, places: ReadonlyArray<string> = []): string | null =>
  firstAt(body, places, isText)[0] ?? null

/** The first number at one of the places, also as digits in a text. */
export const numberAt = (body: unknown, places: ReadonlyArray<string> = []): number | null => {
  const [value] = firstAt(body, places, isCode)
  const number = value === undefined ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}

/** The value of a bill as the vendor wrote it. */
export const amountAt = (body: unknown, places: ReadonlyArray<string>): unknown =>
  firstAt(body, places, isCode)[0] ?? null

/** An id; some vendors count their jobs, and 0 is the number of no job. */
const isTextOrNumberId = (value: unknown): value is string | number =>
  isJobId(value) || (typeof value === "number" && Number.isSafeInteger(value) && value > 0)

export const jobIdIn = ({ answers }: QueueDocument, body: unknown): string | null => {
  const [id] = firstAt(body, answers.id, isTextOrNumberId)
  return id === undefined ? null : String(id)
}

/** The addresses of the files in an answer. */
export const filesIn = ({ answers }: QueueDocument, body: unknown): ReadonlyArray<string> =>
  firstAt(body, answers.files, isAddress)

/** Vendors write 0 as the code of no error. */
const isErrorCode = (value: unknown): value is string | number =>
  isCode(value) && Number(value) !== 0

/** The code of an error, as the vendor spells it. */
export const codeIn = ({ answers }: QueueDocument, body: unknown): string | null => {
  const [code] = firstAt(body, answers.code, isErrorCode)
  return code === undefined ? null : String(code)
}

export const messageIn = ({ answers }: QueueDocument, body: unknown): string | null =>
  textAt(body, answers.message)

type Meaning = keyof StatusNames

const statusMeanings = ["queued", "open", "finished", "failed", "cancelled", "expired"] as const

/** How a job is: the vendor's name, and what it means; the meaning is null for an unknown name. */
export interface JobState {
  readonly name: string
  readonly meaning: Meaning | null
}

/** The name of a status; some vendors have numbers as names, or say whether the job is done. */
const isStatusName = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** The name of the status in an answer, as a text; null if the answer has none. */
export const statusNameIn = ({ answers }: QueueDocument, body: unknown): string | null => {
  const [name] = firstAt(body, answers.status, isStatusName)
  return name === undefined ? null : String(name)
}

/** The state of a job in an answer; null if the answer states none. */
export const stateIn = (document: QueueDocument, body: unknown): JobState | null => {
  const { answers, statuses } = document
  const name = statusNameIn(document, body)
  if (name === null) return null
  const meaning = statusMeanings.find((one) => statuses[one]?.includes(name)) ?? null
  if (meaning !== "finished" || textAt(body, answers.failed) === null) return { name, meaning }
  // Some vendors call a job finished that has failed or was cancelled, and put the reason beside the
  // status.
  const code = codeIn(document, body)
  return code !== null && statuses.cancelled?.includes(code) === true
    ? { name: code, meaning: "cancelled" }
    : { name, meaning: "failed" }
}

const ends: ReadonlyArray<Meaning | null> = ["failed", "cancelled", "expired"]

/** Whether the job has ended without a product. */
export const hasFailed = (state: JobState | null): boolean =>
  state !== null && ends.includes(state.meaning)

/** Statuses of an answer to a request for a result that are not about the job. */
const otherStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/** Whether the answer to a request for a result says that the job has failed. */
export const isFailedResult = (
  { answers }: QueueDocument,
  { status, body }: VendorAnswer
): boolean =>
  status >= 400 && !otherStatuses.has(status) && textAt(body, answers.failed_result) !== null

/** The names of the fields in which the vendor writes the addresses of files, in lower case. */
const fileFieldsOf = ({ answers }: QueueDocument): ReadonlySet<string> =>
  new Set(answers.files.map((place) => fieldNameOf(place)?.toLowerCase() ?? ""))

const textCode = (text: string): string => `text ${text}`

/** The texts of the table that stand in the messages of an error, as codes. */
const textCodesIn = (messages: ReadonlyArray<string>, texts: object): ReadonlyArray<string> => {
  const message = messages.join("\n").toLowerCase()
  return Object.keys(texts)
    .filter((text) => message.includes(text.toLowerCase()))
    .map(textCode)
}

const statusCode = (status: string): string => `http-${status}`

/** The vendor's refusals. */
export const queueRefusals = (document: QueueDocument): RefusalTable => {
  const { shapes, codes = {}, statuses = {}, texts = {} } = document.refusals
  const byStatus = Object.keys(statuses).map(statusCode)
  const shapeOf =
    ({ message, codes: places }: (typeof shapes)[number]): Shape =>
    (body) => {
      const messages = valuesAt(body, message).filter(isText)
      if (messages.length === 0) return null
      const answerCodes = places.flatMap((place) => valuesAt(body, place).filter(isCode))
      return [...textCodesIn(messages, texts), ...answerCodes.map(String), ...byStatus]
    }
  const table = refusalTable(shapes.map(shapeOf), {
    ...Object.fromEntries(
      Object.entries(statuses).map(([status, meaning]) => [
        statusCode(status),
        { ...meanings[meaning], at: Number(status) }
      ])
    ),
    ...Object.fromEntries(
      Object.entries(texts).map(([text, meaning]) => [textCode(text), meanings[meaning]])
    ),
    ...Object.fromEntries(Object.entries(codes).map(([code, meaning]) => [code, meanings[meaning]]))
  })
  return { ...table, fileFields: fileFieldsOf(document) }
}

/**
 * The text of an error, at the places of the answers or in a form of the refusals. With a status of
 * success, a form counts only with a code or a text that the document lists, since some vendors
 * write `{"code": 200, "message": "success"}` around every answer.
 */
const errorTextIn = (
  document: QueueDocument,
  { status, body }: Pick<VendorAnswer, "status" | "body">
): string | null => {
  if (!Predicate.isObject(body)) return null
  const message = messageIn(document, body)
  if (message !== null) return message
  const table = queueRefusals(document)
  const codes = table.shapes.map((shape) => shape(body)).find((found) => found !== null)
  if (codes === undefined || (status < 300 && meaningOf(table, codes, status) === null)) return null
  return textAt(
    body,
    document.refusals.shapes.map((shape) => shape.message)
  )
}

/** The failure of an answer that has none of the expected values. */
export const failedAnswer = (
  document: QueueDocument,
  account: ChannelAccount,
  answer: VendorAnswer
): VendorRefused | VendorLost => {
  const message = errorTextIn(document, answer)
  const fileFields = fileFieldsOf(document)
  return message === null
    ? unusableAnswer(account, answer, { fileFields })
    : refusal(account, answer, { message, fileFields })
}

/** Whether an answer says that a job was cancelled, by its status or by the code of its error. */
const isCancelledIn = (document: QueueDocument, body: unknown): boolean => {
  const code = codeIn(document, body)
  return (
    stateIn(document, body)?.meaning === "cancelled" ||
    (code !== null && document.statuses.cancelled?.includes(code) === true)
  )
}

/** The verdict of the vendor that a job has failed. */
export const failedJob = (
  document: QueueDocument,
  account: ChannelAccount,
  answer: VendorAnswer
): VendorRefused | VendorLost =>
  refusal(account, answer, {
    message: messageIn(document, answer.body) ?? "The vendor failed to do the job",
    effectiveStatus: isFailedResult(document, answer) ? answer.status : null,
    isVerdict: true,
    isCancelled: isCancelledIn(document, answer.body),
    fileFields: fileFieldsOf(document)
  })

/** Whether a body of an error status is an error in the vendor's form. */
export const isQueueError =
  (document: QueueDocument) =>
  (body: unknown): boolean =>
    errorTextIn(document, { status: 400, body }) !== null
