/**
 * What every video adapter must do. A protocol brings its wire forms as data; the calls go to a
 * vendor that answers what the case says.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { VideoProtocol } from "../../src/domain/video/VideoProtocol.ts"
import type { CancelAnswer, VideoOrder, VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf, lost, refused } from "./failures.ts"
import {
  API_KEY,
  accountAt,
  layerOverSockets,
  limitSeconds,
  named,
  orderOf,
  textBlock,
  videoAdapter
} from "./support.ts"
import { type Dialect, vendorCallSuite } from "./vendorCall.suite.ts"

/** The vendor's id in all bodies a subject brings. */
export const UPSTREAM_ID = "901/a b"

interface WireCase {
  readonly says: string
  readonly order: Partial<VideoOrder>
  /** After the base address. */
  readonly path: string
  readonly body: unknown
  /** Status of the simulated vendor's refusal; it takes the order when left out. */
  readonly refusedWith?: number
}

export interface VideoSubject {
  readonly protocol: VideoProtocol | "fal" | "replicate"
  /** The protocol the model is listed under, where it is called by another. */
  readonly listedProtocol?: VideoProtocol
  readonly dialect: Dialect
  /** Where a poll sends other headers than a submit. */
  readonly pollDialect?: Dialect
  readonly model: string
  /** What every order has, where the protocol does not take 5 seconds of 720p. */
  readonly usual?: Partial<VideoOrder>
  /** What is sent of a data URL; the URL itself when left out. */
  readonly inline?: (url: string) => string
  /** A model that takes a first frame, where the other one takes none. */
  readonly framesModel?: string
  readonly wires: ReadonlyArray<WireCase>
  /** Orders the interface has no field for, and the vendor's refusal that is built instead. */
  readonly unsent?: ReadonlyArray<{
    readonly says: string
    readonly order: Partial<VideoOrder>
    readonly body: { readonly message?: string; readonly [field: string]: unknown }
    /** The message of the refusal, where it is deeper in the body. */
    readonly message?: string
  }>
  /** What an operator may write after the host, and where a text order and a poll then go. */
  readonly bases: ReadonlyArray<{
    readonly base: string
    readonly submit: string
    readonly poll: string
  }>
  readonly submitted: Readonly<Record<string, unknown>>
  /** What a submit answers, where it is more than the vendor's id. */
  readonly taskId?: string
  readonly submits: ReadonlyArray<{
    readonly says: string
    readonly reply: Reply
    readonly failure: Failure
  }>
  /** Statuses without a usable id in them. */
  readonly polls: ReadonlyArray<{
    readonly says: string
    readonly body: unknown
    /** 200 when left out. */
    readonly httpStatus?: number
    /** Whether a marked file was ordered; false when left out. */
    readonly isMarked?: boolean
    readonly status: VideoStatus
  }>
  readonly brokenPolls: ReadonlyArray<{ readonly says: string; readonly body: unknown }>
  readonly failedPolls?: ReadonlyArray<{
    readonly says: string
    readonly reply: Reply | ((request: ReceivedRequest) => Reply)
    readonly failure: Failure
  }>
  /** How a job is cancelled; left out where the protocol cannot. */
  readonly cancel?: {
    /** Method and path of the request. */
    readonly request: string
    readonly answers: ReadonlyArray<{
      readonly says: string
      readonly reply: Reply
      readonly answer: CancelAnswer
    }>
  }
  /** Polls that read a result with a second request. */
  readonly resultPolls?: ReadonlyArray<{
    readonly says: string
    readonly reply: (request: ReceivedRequest) => Reply
    readonly status: VideoStatus
  }>
  /** A poll answer that a task failed with this message. */
  readonly failedWith: (message: string) => Readonly<Record<string, unknown>>
}

/** The names of the status of a job that its vendor has not begun. */
const queuedName = /"(?:queued|pending|PENDING|starting|IN_QUEUE)"/

/** Statuses of an unfinished job that any vendor documents. */
const documentedWords: ReadonlyArray<string | undefined> = [
  "queued",
  "running",
  "submitted",
  "created",
  "queueing",
  "PENDING",
  "RUNNING"
]

/** Statuses no vendor documents: a task that has one stays unfinished. */
export const strangeWords = ["unheard-of", "toString", "__proto__", ""]

export const videoAdapterSuite = (subject: VideoSubject): void => {
  const { protocol, listedProtocol = protocol, taskId = UPSTREAM_ID } = subject
  const ref = { upstreamId: taskId, upstreamModel: subject.model, listedProtocol }
  const order = (more: Partial<VideoOrder> = {}) =>
    orderOf({ upstreamModel: subject.model, listedProtocol, ...subject.usual, ...more })

  const pollBroken = Effect.fnUntraced(function* (
    reply: Reply | ((request: ReceivedRequest) => Reply),
    isMarked = false
  ) {
    const vendor = yield* brokenVendor(reply)
    return yield* (yield* videoAdapter(protocol)).poll(accountAt(vendor.url), { ...ref, isMarked })
  })

  layer(layerOverSockets)(
    listedProtocol === protocol ? protocol : `${protocol} as ${listedProtocol}`,
    (it) => {
      it.effect.each(named(subject.wires))("%s", ([, wire]) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor({ body: subject.submitted })
          const adapter = yield* videoAdapter(protocol)
          yield* adapter.submit(accountAt(vendor.url), order(wire.order))
          assert.deepStrictEqual(
            (yield* vendor.requests).map(({ method, target, body }) => ({
              method,
              target,
              body: JSON.parse(body)
            })),
            [{ method: "POST", target: wire.path, body: wire.body }]
          )
        })
      )

      it.effect.each(named(subject.unsent ?? []))("nothing is sent: %s", ([, unsent]) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor({ body: subject.submitted })
          const adapter = yield* videoAdapter(protocol)
          const failure = yield* Effect.flip(
            adapter.submit(accountAt(vendor.url), order(unsent.order))
          )
          const message = unsent.message ?? unsent.body.message ?? ""
          assert.deepStrictEqual(failureOf(failure), refused(400, unsent.body, { message }))
          assert.deepStrictEqual(yield* vendor.requests, [])
        })
      )

      it.effect("an inline file goes out unchanged", () =>
        Effect.gen(function* () {
          const url = `data:image/png;base64,${"iVBOR+/=".repeat(50)}`
          const vendor = yield* brokenVendor({ body: subject.submitted })
          const adapter = yield* videoAdapter(protocol)
          const blocks = [textBlock("x"), { type: "image", role: "first_frame", url }] as const
          const { framesModel: upstreamModel = subject.model } = subject
          yield* adapter.submit(accountAt(vendor.url), order({ upstreamModel, blocks }))
          const { inline = (address) => address } = subject
          assert.include((yield* vendor.requests)[0]?.body, JSON.stringify(inline(url)))
        })
      )

      it.effect.each([...subject.bases])(
        "the base address https://host$base is brought to the interface's root",
        ({ base, submit, poll }) =>
          Effect.gen(function* () {
            const vendor = yield* brokenVendor(({ method }) =>
              method === "GET" ? "reset" : { body: subject.submitted }
            )
            const adapter = yield* videoAdapter(protocol)
            const there = accountAt(`${vendor.url}${base}`)
            assert.strictEqual(yield* adapter.submit(there, order()), taskId)
            yield* Effect.flip(adapter.poll(there, ref))
            assert.deepStrictEqual(
              (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`),
              [`POST ${submit}`, `GET ${poll}`]
            )
          })
      )

      it.effect.each(named(subject.submits))("a submit: %s", ([, { reply, failure }]) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor(reply)
          const adapter = yield* videoAdapter(protocol)
          const error = yield* Effect.flip(adapter.submit(accountAt(vendor.url), order()))
          assert.deepStrictEqual(failureOf(error), failure)
        })
      )

      it.effect.each(named(subject.polls))("a poll: %s", ([, poll]) =>
        Effect.gen(function* () {
          const { body, httpStatus = 200, status, isMarked } = poll
          const { unknownStatus, isQueued, ...read } = {
            unknownStatus: undefined,
            isQueued: false,
            ...(yield* pollBroken({ status: httpStatus, body }, isMarked))
          }
          assert.deepEqual<unknown>(read, status)
          assert.strictEqual(isQueued, queuedName.test(JSON.stringify(body)))
          if (JSON.stringify(body).includes('"unheard-of"')) {
            assert.strictEqual(unknownStatus, "unheard-of")
          }
          assert.notInclude(documentedWords, unknownStatus)
        })
      )

      it.effect.each(named(subject.brokenPolls))("a poll that cannot be read: %s", ([, { body }]) =>
        Effect.gen(function* () {
          const failure = failureOf(yield* Effect.flip(pollBroken({ body: JSON.stringify(body) })))
          assert.deepStrictEqual(failure, lost("broken_answer", 200))
        })
      )

      it.effect.each(named(subject.failedPolls ?? []))(
        "a poll that is no verdict: %s",
        ([, { reply, failure }]) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(failureOf(yield* Effect.flip(pollBroken(reply))), failure)
          })
      )

      it.effect.each(named(subject.resultPolls ?? []))(
        "a poll and its result: %s",
        ([, { reply, status }]) =>
          Effect.gen(function* () {
            assert.deepEqual<unknown>(yield* pollBroken(reply), status)
          })
      )

      it.effect.each([".", "..", "a\nb", "a\u0000b", "", "x".repeat(513)])(
        "a task id of %j cannot be asked for again, so the answer is broken",
        (id) =>
          Effect.gen(function* () {
            const body = JSON.stringify(subject.submitted).replaceAll(
              JSON.stringify(UPSTREAM_ID),
              JSON.stringify(id)
            )
            const vendor = yield* brokenVendor({ body })
            const adapter = yield* videoAdapter(protocol)
            const error = yield* Effect.flip(adapter.submit(accountAt(vendor.url), order()))
            assert.deepStrictEqual(failureOf(error), lost("broken_answer", 200))
          })
      )

      const succeeded = subject.polls.flatMap(({ body, status }) =>
        status._tag === "Succeeded" ? [{ body, url: status.videoUrl }] : []
      )
      it.effect.each([
        "file:///a.mp4",
        "/a.mp4",
        "javascript:alert(1)",
        "data:video/mp4;base64,AA"
      ])("a video at %j cannot be loaded, so there is no verdict", (address) =>
        Effect.gen(function* () {
          const [first] = succeeded
          assert.isDefined(first)
          const body = JSON.stringify(first.body).replaceAll(first.url, address)
          const failure = failureOf(yield* Effect.flip(pollBroken({ body })))
          assert.deepStrictEqual(failure, lost("broken_answer", 200))
        })
      )

      it.effect("our credentials are hidden in what a failed task says", () =>
        Effect.gen(function* () {
          const status = yield* pollBroken({ body: subject.failedWith(`no: ${API_KEY}`) })
          assert.propertyVal(status, "message", "no: [redacted]")
        })
      )

      vendorCallSuite(it, {
        name: "a submit",
        call: (there) =>
          Effect.flatMap(videoAdapter(protocol), (adapter) => adapter.submit(there, order())),
        good: subject.submitted,
        seconds: limitSeconds.submit,
        dialect: subject.dialect
      })

      vendorCallSuite(it, {
        name: "a poll",
        call: (there) =>
          Effect.flatMap(videoAdapter(protocol), (adapter) => adapter.poll(there, ref)),
        good: subject.failedWith("no"),
        seconds: limitSeconds.poll,
        dialect: subject.pollDialect ?? subject.dialect
      })

      const { cancel } = subject
      if (cancel === undefined) return
      const sendCancel = (there: ReturnType<typeof accountAt>) =>
        Effect.flatMap(videoAdapter(protocol), (adapter) =>
          adapter.cancel === undefined ? Effect.die("no cancel") : adapter.cancel.send(there, ref)
        )

      it.effect.each(named(cancel.answers))("a cancel: %s", ([, { reply, answer }]) =>
        Effect.gen(function* () {
          const vendor = yield* brokenVendor(reply)
          assert.deepStrictEqual(yield* sendCancel(accountAt(vendor.url)), answer)
          assert.deepStrictEqual(
            (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`),
            [cancel.request]
          )
        })
      )

      it.effect.each<Reply>(["reset", { status: 401, body: {} }, { status: 500, body: "no" }])(
        "a cancel that says nothing of the job fails: %j",
        (reply) =>
          Effect.gen(function* () {
            const vendor = yield* brokenVendor(reply)
            yield* Effect.flip(sendCancel(accountAt(vendor.url)))
            assert.lengthOf(yield* vendor.requests, 1)
          })
      )
    }
  )
}
