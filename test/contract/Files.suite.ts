/** What every store of uploaded files must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { FilePurpose } from "../../src/domain/files/filePurposes.ts"
import { Files, type NewFile } from "../../src/services/files/Files.ts"
import { jobId, organization, type Stores } from "../support/ledger.ts"

const bounds = { files: 3, bytes: 100 }

const newFile = (organizationId: string, more: Partial<NewFile> = {}): NewFile => ({
  organizationId,
  memberId: "mem_1",
  id: jobId("file"),
  filename: "a.mp4",
  purpose: "vision",
  contentType: "video/mp4",
  bytes: 6,
  seconds: 2.5,
  isInBucket: false,
  lifetimeSeconds: 3600,
  ...more
})

/** A file of the six bytes 1 to 6 in two chunks, which can be seen. */
const kept = Effect.fnUntraced(function* (organizationId: string, more?: Partial<NewFile>) {
  const files = yield* Files
  const file = newFile(organizationId, more)
  assert.isNull(yield* files.add(file, bounds))
  yield* files.writeChunk(organizationId, file.id, 0, new Uint8Array([1, 2, 3]))
  yield* files.writeChunk(organizationId, file.id, 1, new Uint8Array([4, 5, 6]))
  assert.isNotNull(yield* files.completeUpload(organizationId, file.id, "00ff"))
  return file
})

/** Of these; what others left stays claimed. */
const claim = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const files = yield* Files
    return (yield* files.claimRemovals(1000)).filter(({ id }) => ids.includes(id))
  })

export const filesSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("a file is seen by its organisation from the end of its upload on", () =>
    Effect.gen(function* () {
      const files = yield* Files
      const { organizationId } = yield* organization(1n)
      const { organizationId: other } = yield* organization(1n)
      const file = newFile(organizationId)
      assert.isNull(yield* files.add(file, bounds))
      assert.deepStrictEqual(yield* files.find(organizationId, [file.id]), [])
      yield* files.writeChunk(organizationId, file.id, 0, new Uint8Array([1]))
      yield* files.completeUpload(organizationId, file.id, "00ff")
      const [seen] = yield* files.find(organizationId, [file.id, file.id, "file_none"])
      assert.deepInclude(seen, {
        id: file.id,
        filename: "a.mp4",
        purpose: "vision",
        contentType: "video/mp4",
        bytes: 6,
        seconds: 2.5,
        sha256: "00ff",
        isInBucket: false
      })
      const life = (seen?.expiresAt.getTime() ?? 0) - (seen?.createdAt.getTime() ?? 0)
      assert.strictEqual(life, 3_600_000)
      // Its bytes are what they were when it was kept.
      yield* files.writeChunk(organizationId, file.id, 1, new Uint8Array([2]))
      assert.isNull(yield* files.readChunk(organizationId, file.id, 1))
      assert.deepStrictEqual([...((yield* files.readChunk(organizationId, file.id, 0)) ?? [])], [1])
      assert.deepStrictEqual(yield* files.find(other, [file.id]), [])
      assert.isNull(yield* files.readChunk(other, file.id, 0))
      assert.isNull(yield* files.completeUpload(other, file.id, "00ff"))
      assert.isFalse(yield* files.remove(other, file.id))
    })
  )

  it.effect("files are listed newest first, also of one purpose", () =>
    Effect.gen(function* () {
      const files = yield* Files
      const { organizationId } = yield* organization(1n)
      const ids: Array<string> = []
      for (const purpose of ["vision", "user_data", "vision"] as const) {
        ids.unshift((yield* kept(organizationId, { purpose })).id)
      }
      const list = (purpose: FilePurpose | null, after: string | null, limit: number) =>
        Effect.map(files.list(organizationId, purpose, { after, limit }), ({ data, hasMore }) => [
          data.map(({ id }) => id),
          hasMore
        ])
      assert.deepStrictEqual(yield* list(null, null, 2), [ids.slice(0, 2), true])
      assert.deepStrictEqual(yield* list(null, ids[1] ?? "", 2), [ids.slice(2), false])
      assert.deepStrictEqual(yield* list("vision", null, 9), [[ids[0], ids[2]], false])
      const refusal = yield* Effect.flip(list(null, "file_none", 2))
      assert.strictEqual(refusal.param, "after")
    })
  )

  it.effect("an organisation has no more than its bounds, until the bytes are gone", () =>
    Effect.gen(function* () {
      const files = yield* Files
      const { organizationId } = yield* organization(1n)
      const add = (bytes: number) => files.add(newFile(organizationId, { bytes }), bounds)
      const first = yield* kept(organizationId, { bytes: 60 })
      assert.strictEqual(yield* add(41), "bytes")
      assert.isNull(yield* add(40))
      assert.strictEqual(yield* add(1), "bytes")
      assert.isNull(yield* add(0))
      assert.strictEqual(yield* add(0), "files")
      assert.isTrue(yield* files.remove(organizationId, first.id))
      assert.strictEqual(yield* add(0), "files")
      for (const claimed of yield* claim([first.id])) yield* files.completeRemoval(claimed)
      assert.isNull(yield* add(60))
      // Also where many come at once.
      for (let round = 0; round < 5; round++) {
        const { organizationId: crowded } = yield* organization(1n)
        const passed = yield* Effect.forEach(
          Array.from({ length: 30 }, () => newFile(crowded)),
          (file) => files.add(file, bounds),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(passed.filter((bound) => bound === null).length, bounds.files)
      }
      // A repeat of the same file changes nothing.
      const { organizationId: other } = yield* organization(1n)
      const again = newFile(other, { bytes: 100 })
      assert.isNull(yield* files.add(again, bounds))
      assert.isNull(yield* files.add(again, bounds))
    })
  )

  it.effect("what is removed is seen no more, and claimed by one at a time", () =>
    Effect.gen(function* () {
      const files = yield* Files
      const { organizationId } = yield* organization(1n)
      const { id } = yield* kept(organizationId)
      const stays = yield* kept(organizationId)
      assert.deepStrictEqual(yield* claim([id, stays.id]), [])
      assert.isTrue(yield* files.remove(organizationId, id))
      assert.isFalse(yield* files.remove(organizationId, id))
      assert.deepStrictEqual(yield* files.find(organizationId, [id]), [])
      const { data } = yield* files.list(organizationId, null, { after: null, limit: 9 })
      assert.deepStrictEqual(
        data.map((file) => file.id),
        [stays.id]
      )
      const [claimed, ...others] = yield* claim([id, stays.id])
      assert.deepInclude(claimed, { organizationId, id, isInBucket: false })
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(yield* claim([id]), [])
      if (claimed === undefined) return
      yield* files.completeRemoval({ ...claimed, lease: claimed.lease + 1n })
      assert.isNotNull(yield* files.readChunk(organizationId, id, 0))
      yield* files.completeRemoval(claimed)
      assert.isNull(yield* files.readChunk(organizationId, id, 0))
    })
  )

  it.effect("an upload that failed is removed, and never seen", () =>
    Effect.gen(function* () {
      const files = yield* Files
      const { organizationId } = yield* organization(1n)
      const file = newFile(organizationId, { isInBucket: true })
      yield* files.add(file, bounds)
      assert.deepStrictEqual(yield* claim([file.id]), [])
      yield* files.abandonUpload(organizationId, file.id)
      assert.isNull(yield* files.completeUpload(organizationId, file.id, "00ff"))
      const [claimed] = yield* claim([file.id])
      assert.deepInclude(claimed, { id: file.id, isInBucket: true })
      const done = yield* kept(organizationId)
      yield* files.abandonUpload(organizationId, done.id)
      assert.strictEqual((yield* files.find(organizationId, [done.id])).length, 1)
    })
  )
}
