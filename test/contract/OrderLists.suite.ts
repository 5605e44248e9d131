/** What every store of orders must find and sum up for operators. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { NO_PRICE_LIST } from "../../src/domain/catalog/PriceList.ts"
import { Access, allScopes } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { anyOrder, type OrderFilter, OrderLists } from "../../src/services/OrderLists.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

const newest = { after: null, limit: 20 }
const priceList = "pl_studio"
const job = { channelId: "ch", protocol: "ip_a", upstreamModel: "u" }
const task = { listedProtocol: "vp_d", summary: { seconds: 5 }, submitSeconds: 60 }

/**
 * An organisation with five orders, the oldest first: a charged image of which something was given
 * back, a text that failed, a running video, a failed one, and an image of another member, whose
 * vendor reported its bill. A price list priced the first image and the running video.
 */
const studio = Effect.gen(function* () {
  const access = yield* Access
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const transfers = yield* Transfers
  const random = yield* SecureRandom.SecureRandom
  const { organizationId, memberIds, hold, close } = yield* organization(1000n, 2)
  const [memberId = "", other = ""] = memberIds
  const newKey = { name: "k", scopes: allScopes, models: null, expiresAt: null }
  const { id: keyId } = yield* access.createKey(memberId, newKey)
  const ordered = Effect.fnUntraced(function* (
    kind: "vt" | "im" | "tx",
    amount: bigint,
    more: Partial<HoldRequest>
  ) {
    const id = `${kind}_${yield* random.uuidV7()}`
    yield* ledger.hold(hold(amount, { id, keyId, ...more }))
    return id
  })
  const film = { quote, task, modality: "video", model: "film-1" }
  const image = yield* ordered("im", 10n, {
    metadata: { project: "a" },
    promptDigest: "0123456789ab",
    priceList
  })
  yield* ledger.capture({
    ...close(image),
    chargeNano: 12n,
    costNano: 7n,
    usage: usageOf(12n)
  })
  yield* transfers.adjust({
    organizationId,
    kind: "correction",
    amountNano: 2n,
    reference: "one",
    reason: "x",
    author: "y",
    orderId: image
  })
  const text = yield* ordered("tx", 5n, {
    modality: "chat",
    model: "talk-1",
    metadata: { project: "a" },
    job: { channelId: "other", protocol: "openai", upstreamModel: "u" }
  })
  yield* ledger.release({ ...close(text), orphan: null, forgetKey: false })
  const video = yield* ordered("vt", 30n, { ...film, priceList })
  yield* repo.accept(organizationId, video, upstream(`up ${video}`), 3600)
  const failed = yield* ordered("vt", 30n, film)
  yield* ledger.release({
    ...close(failed),
    task: { from: "submitting", state: "rejected", errorCode: "no", errorMessage: "no" },
    orphan: null,
    forgetKey: false
  })
  const others = yield* ordered("im", 40n, {
    memberId: other,
    keyId: "another",
    metadata: { project: "b" },
    job: { ...job, billUnitPrice: "0.000000003" }
  })
  yield* ledger.capture({
    ...close(others),
    chargeNano: 40n,
    usage: usageOf(40n),
    vendorBill: { amountNano: 2_000_000_000n, unit: "credit" },
    reportedCostNano: 6n
  })
  return { organizationId, memberId, other, keyId, image, text, video, failed, others }
})

export const orderListsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("orders are found by what is known of them, newest first", () =>
    Effect.gen(function* () {
      const lists = yield* OrderLists
      const { organizationId, memberId, other, keyId, ...ids } = yield* studio
      const { image, text, video, failed, others } = ids
      const all = [others, failed, video, text, image]
      const own = { organizationId }
      const soon = new Date(Date.now() + 3_600_000)
      const wanted: ReadonlyArray<readonly [Partial<OrderFilter>, ReadonlyArray<string>]> = [
        [own, all],
        [{ memberId: other }, [others]],
        [{ memberId }, [failed, video, text, image]],
        [{ keyId }, all.filter((id) => id !== others)],
        [{ keyId, memberId: other }, []],
        [{ keyId, organizationId: "org_nobody" }, []],
        [{ memberId: "mem_nobody" }, []],
        [{ organizationId: "org_nobody" }, []],
        [{ ...own, model: "film-1" }, [failed, video]],
        [{ ...own, modality: "chat" }, [text]],
        [{ ...own, channelId: "other" }, [text]],
        [{ ...own, priceListId: priceList }, [video, image]],
        [{ ...own, priceListId: priceList, state: "captured" }, [image]],
        [{ ...own, priceListId: NO_PRICE_LIST }, [others, failed, text]],
        [{ memberId: other, priceListId: "pl_nobody" }, []],
        [{ ...own, state: "open" }, [video]],
        [{ ...own, state: "captured" }, [others, image]],
        [{ ...own, state: "released", model: "film-1" }, [failed]],
        [{ ...own, from: new Date(0), to: soon }, all],
        [{ ...own, from: soon }, []],
        [{ ...own, to: new Date(0) }, []],
        [{ ...own, tag: { name: "project", value: "a" } }, [text, image]],
        [{ memberId, tag: { name: "project", value: "a" }, state: "captured" }, [image]],
        [{ ...own, tag: { name: "project", value: "c" } }, []],
        [{ ...own, promptDigest: "0123456789ab" }, [image]],
        [{ ...own, promptDigest: "ba9876543210" }, []],
        [{ upstreamId: `up ${video}` }, [video]],
        [{ upstreamId: `up ${video}`, memberId: other }, []],
        [{ ...own, tasksOnly: true }, [failed, video]],
        [{ ...own, tasksOnly: true, taskState: "rejected" }, [failed]],
        [{ memberId, taskState: "processing" }, [video]]
      ]
      for (const [filter, expected] of wanted) {
        const page = yield* lists.list({ ...anyOrder, ...filter }, newest)
        assert.deepStrictEqual(
          page.data.map(({ id }) => id),
          expected,
          JSON.stringify(filter)
        )
        assert.deepStrictEqual([page.hasMore, page.next], [false, null])
      }
    })
  )

  it.effect("an entry tells what stands in the books, and of a task where it is", () =>
    Effect.gen(function* () {
      const lists = yield* OrderLists
      const { organizationId, memberId, keyId, image, video, failed, others } = yield* studio
      const { data } = yield* lists.list({ ...anyOrder, organizationId }, newest)
      const found = (id: string) => data.find((order) => order.id === id)
      assert.deepInclude(found(image), {
        organizationId,
        memberId,
        keyId,
        model: "paint-1",
        modality: "image",
        job,
        priceListId: priceList,
        vendorBill: null,
        reportedCostNano: null,
        state: "captured",
        holdNano: 10n,
        chargeNano: 12n,
        overageNano: 2n,
        costNano: 7n,
        returnedNano: 2n,
        metadata: { project: "a" },
        upstreamId: null,
        isTask: false,
        taskState: null,
        summary: null,
        errorCode: null,
        nextPollAt: null
      })
      assert.deepInclude(found(video), {
        state: "open",
        taskState: "processing",
        upstreamId: `up ${video}`,
        isTask: true,
        chargeNano: 0n,
        costNano: null,
        returnedNano: 0n,
        closedAt: null,
        metadata: null,
        summary: { seconds: 5 }
      })
      assert.isNotNull(found(video)?.nextPollAt)
      assert.deepInclude(found(others), {
        priceListId: null,
        vendorBill: { amountNano: 2_000_000_000n, unit: "credit" },
        reportedCostNano: 6n
      })
      assert.deepInclude(found(failed), { taskState: "rejected", errorCode: "no" })
    })
  )

  it.effect("one order is its member's alone", () =>
    Effect.gen(function* () {
      const lists = yield* OrderLists
      const { organizationId, memberId, other, ...ids } = yield* studio
      const { data } = yield* lists.list({ ...anyOrder, organizationId, memberId }, newest)
      assert.lengthOf(data, 4)
      for (const order of data) {
        // A list has more of each, which is its own affair.
        assert.deepInclude(order, yield* lists.find({ organizationId, memberId }, order.id))
      }
      const stranger = yield* studio
      for (const [owner, id] of [
        [{ organizationId, memberId }, ids.others],
        [{ organizationId, memberId: other }, ids.image],
        [stranger, ids.image],
        [{ organizationId, memberId: stranger.memberId }, stranger.image],
        [{ organizationId, memberId }, "nobody"]
      ] as const) {
        const refused = yield* Effect.flip(lists.find(owner, id))
        assert.strictEqual(refused.message, "No such order")
      }
    })
  )

  it.effect("pages go on where the one before ended, also between kinds and organisations", () =>
    Effect.gen(function* () {
      const lists = yield* OrderLists
      // So that the last page read is not the last one.
      yield* studio
      const one = yield* studio
      const two = yield* studio
      const expected = [two, one].flatMap(({ others, failed, video, text, image }) => [
        others,
        failed,
        video,
        text,
        image
      ])
      const read = (filter: Partial<OrderFilter>, after: string | null, limit: number) =>
        lists.list({ ...anyOrder, ...filter }, { after, limit })
      // Other tests have ids that are later than any time.
      const seen: Array<string> = []
      let after: string | null = two.others
      for (let page = 0; page < 3; page++) {
        const { data, hasMore, next }: Effect.Success<ReturnType<typeof read>> = yield* read(
          {},
          after,
          3
        )
        seen.push(...data.map(({ id }) => id))
        assert.isTrue(hasMore)
        after = next
      }
      assert.deepStrictEqual(seen, expected.slice(1))
      const { organizationId } = one
      const last = yield* read({ organizationId }, one.video, 2)
      assert.deepStrictEqual(
        [last.data.map(({ id }) => id), last.hasMore, last.next],
        [[one.text, one.image], false, null]
      )
      const { memberId } = one
      const foreign = yield* Effect.flip(read({ organizationId, memberId }, one.others, 2))
      assert.strictEqual(foreign.param, "after")
      for (const wrong of ["nobody", "im_00000000-0000-7000-8000-000000000000", two.image]) {
        const refused = yield* Effect.flip(read({ organizationId }, wrong, 2))
        assert.strictEqual(refused.param, "after", wrong)
      }
    })
  )

  it.effect("totals are those of the list, and equal the ledger", () =>
    Effect.gen(function* () {
      const lists = yield* OrderLists
      const ledger = yield* Ledger
      const { organizationId, memberId, keyId, other } = yield* studio
      const totals = (filter: Partial<OrderFilter>) =>
        lists.totals({ ...anyOrder, organizationId, ...filter })
      const nothing = {
        processing: 0,
        succeeded: 0,
        failed: 0,
        heldNano: 0n,
        chargeNano: 0n,
        returnedNano: 0n,
        costNano: 0n,
        withoutCost: 0,
        reportedCostNano: 0n,
        withoutReportedCost: 0
      }
      const all = yield* totals({})
      assert.deepStrictEqual(all, {
        processing: 1,
        succeeded: 2,
        failed: 2,
        heldNano: 30n,
        chargeNano: 52n,
        returnedNano: 2n,
        costNano: 7n,
        withoutCost: 1,
        reportedCostNano: 6n,
        withoutReportedCost: 1
      })
      assert.deepStrictEqual(yield* ledger.balance(organizationId), {
        balanceNano: 1000n - all.chargeNano + all.returnedNano,
        heldNano: all.heldNano
      })
      const own = {
        ...all,
        succeeded: 1,
        chargeNano: 12n,
        withoutCost: 0,
        reportedCostNano: 0n,
        withoutReportedCost: 1
      }
      assert.deepStrictEqual(yield* totals({ memberId }), own)
      assert.deepStrictEqual(yield* totals({ keyId, memberId }), own)
      assert.deepStrictEqual(yield* totals({ memberId: other, state: "captured" }), {
        ...nothing,
        succeeded: 1,
        chargeNano: 40n,
        withoutCost: 1,
        reportedCostNano: 6n
      })
      assert.deepStrictEqual(yield* totals({ state: "open" }), {
        ...nothing,
        processing: 1,
        heldNano: 30n
      })
      assert.deepStrictEqual(yield* totals({ modality: "video" }), {
        ...nothing,
        processing: 1,
        failed: 1,
        heldNano: 30n
      })
      assert.deepStrictEqual(yield* totals({ model: "talk-1", channelId: "other" }), {
        ...nothing,
        failed: 1
      })
      assert.deepStrictEqual(yield* totals({ tag: { name: "project", value: "a" } }), {
        ...nothing,
        succeeded: 1,
        failed: 1,
        chargeNano: 12n,
        returnedNano: 2n,
        costNano: 7n,
        withoutReportedCost: 1
      })
      assert.deepStrictEqual(yield* totals({ tasksOnly: true, state: "open" }), {
        ...nothing,
        processing: 1,
        heldNano: 30n
      })
      // Orders by a price list are counted one by one; together with the others they are all.
      const listed = {
        ...nothing,
        processing: 1,
        succeeded: 1,
        heldNano: 30n,
        chargeNano: 12n,
        returnedNano: 2n,
        costNano: 7n,
        withoutReportedCost: 1
      }
      assert.deepStrictEqual(yield* totals({ priceListId: priceList }), listed)
      assert.deepStrictEqual(yield* totals({ priceListId: priceList, state: "open" }), {
        ...nothing,
        processing: 1,
        heldNano: 30n
      })
      assert.deepStrictEqual(yield* totals({ priceListId: priceList, keyId, memberId }), listed)
      assert.deepStrictEqual(
        yield* totals({ priceListId: priceList, tag: { name: "project", value: "b" } }),
        nothing
      )
      assert.deepStrictEqual(yield* totals({ priceListId: NO_PRICE_LIST }), {
        ...nothing,
        succeeded: 1,
        failed: 2,
        chargeNano: 40n,
        withoutCost: 1,
        reportedCostNano: 6n
      })
      const longAgo = new Date("2020-01-01T00:00:00Z")
      assert.deepStrictEqual(yield* totals({ from: longAgo }), all)
      assert.deepStrictEqual(yield* totals({ to: longAgo }), nothing)
      assert.deepStrictEqual(yield* totals({ from: longAgo, priceListId: priceList }), listed)
      assert.deepStrictEqual(yield* totals({ to: longAgo, priceListId: priceList }), nothing)
    })
  )
}
