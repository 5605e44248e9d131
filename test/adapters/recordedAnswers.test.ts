/** What vendors were seen to answer, read by the adapters over sockets: what it means, and what a client hears of it. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { upstreamErrorOf, type VendorFailure } from "../../src/domain/VendorOutcome.ts"
import { renameModelInError } from "../../src/redaction/modelNames.ts"
import type { ChannelAccount } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import {
  assertFaults,
  assertNames,
  type Faults,
  type KnownFaults,
  missingIn
} from "../support/knownFaults.ts"
import { laterRefusals } from "./recordedAnswers.google.ts"
import { refusals as earlierRefusals } from "./recordedAnswers.refusals.ts"
import type { RefusalRow } from "./recordedAnswers.rows.ts"
import { drawn, polls, submits } from "./recordedAnswers.tasks.ts"
import { accountAt, imageAdapter, layerOverSockets, orderOf, videoAdapter } from "./support.ts"

const refusals = [...earlierRefusals, ...laterRefusals]

/** Rows that are read otherwise than they are meant, by what is read. */
const misread: KnownFaults = {}

const nameOf = ({ protocol, says }: { readonly protocol: string; readonly says: string }) =>
  `${protocol}: ${says}`
const named = <Row extends Parameters<typeof nameOf>[0]>(rows: ReadonlyArray<Row>) =>
  rows.map((row) => [nameOf(row), row] as const)

/** What becomes of a call that is answered so; a failure is what it fails with. */
const answered = Effect.fnUntraced(function* <A, E, R>(
  { status = 200, body }: { readonly status?: number; readonly body: unknown },
  call: (account: ChannelAccount) => Effect.Effect<A, E, R>
) {
  const vendor = yield* brokenVendor({ status, body })
  return yield* Effect.result(call(accountAt(vendor.url)))
})

const faultsOf = <A>(
  result: Result.Result<A, VendorFailure>,
  means: Readonly<Record<string, unknown>>
): Faults => missingIn(Result.isSuccess(result) ? result.success : result.failure, means)

const imageOrder = (upstreamModel: string) => ({
  upstreamModel,
  body: { model: "our-model", prompt: "a lighthouse", n: 2 }
})

const orderOfRow = Effect.fnUntraced(function* (row: RefusalRow) {
  const { upstreamModel } = row
  switch (row.protocol) {
    case "ip_a":
    case "ip_b":
    case "ip_c":
    case "gemini": {
      const adapter = yield* imageAdapter(row.protocol)
      return yield* answered(row, (account) =>
        Effect.asVoid(adapter.generate(account, imageOrder(upstreamModel)))
      )
    }
    default: {
      const adapter = yield* videoAdapter(row.protocol)
      const order = orderOf({ upstreamModel, listedProtocol: row.protocol })
      return yield* answered(row, (account) => Effect.asVoid(adapter.submit(account, order)))
    }
  }
})

const meaningFaults = (failure: VendorFailure, { means }: RefusalRow): Faults =>
  means === "lost"
    ? missingIn(failure, { _tag: "VendorLost", reason: "broken_answer" })
    : missingIn(failure, {
        _tag: "VendorRefused",
        effectiveStatus: means.effectiveStatus,
        proof: means.proof ?? undefined,
        isVerdict: means.isVerdict
      })

/** A client hears of our account and of the vendor's names nothing, whatever else it hears. */
const toldFaults = (failure: VendorFailure, row: RefusalRow): Faults => {
  const names = { model: "our-model", upstreamModel: row.upstreamModel }
  const { status, message, upstream } = renameModelInError(names, upstreamErrorOf(failure))
  const heard = JSON.stringify([message, upstream])
  const shown = (row.hides ?? []).filter((name) => heard.includes(name))
  return [...missingIn(status, row.told, "told"), ...shown.map((name) => `a client hears ${name}`)]
}

layer(layerOverSockets)("recorded answers", (it) => {
  it.effect.each(named(submits))("a submit of %s", ([name, row]) =>
    Effect.gen(function* () {
      const adapter = yield* videoAdapter(row.protocol)
      const order = orderOf({ listedProtocol: row.protocol })
      const result = yield* answered(row, (account) => adapter.submit(account, order))
      const id = Result.isSuccess(result) ? result.success : result.failure
      assertFaults(misread, name, missingIn(id, row.id, "id"))
    })
  )

  it.effect.each(named(polls))("a poll of %s", ([name, row]) =>
    Effect.gen(function* () {
      const adapter = yield* videoAdapter(row.protocol)
      const task = {
        upstreamId: "cgt-1",
        upstreamModel: "m-1",
        listedProtocol: row.protocol,
        isMarked: row.isMarked ?? false
      }
      const result = yield* answered(row, (account) => adapter.poll(account, task))
      assertFaults(misread, name, faultsOf(result, row.means))
    })
  )

  it.effect.each(named(drawn))("images of %s", ([name, row]) =>
    Effect.gen(function* () {
      const adapter = yield* imageAdapter(row.protocol)
      const result = yield* answered(row, (account) => adapter.generate(account, imageOrder("m-1")))
      assertFaults(misread, name, faultsOf(result, row.means))
    })
  )

  it.effect.each(named(refusals))("an order at %s", ([name, row]) =>
    Effect.gen(function* () {
      const result = yield* orderOfRow(row)
      const faults = Result.isSuccess(result)
        ? ["it was taken"]
        : [...meaningFaults(result.failure, row), ...toldFaults(result.failure, row)]
      assertFaults(misread, name, faults)
    })
  )

  it.effect("have names of their own, and a list of rows that there are", () =>
    Effect.sync(() =>
      assertNames([misread], [...submits, ...polls, ...drawn, ...refusals].map(nameOf))
    )
  )
})
