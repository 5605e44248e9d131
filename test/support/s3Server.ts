/** A server of the S3 protocol on this machine, with a bucket of its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { startDemoArchive } from "../../src/features/archive/demoArchive.ts"

/** Serves until the scope closes; answers the place of its bucket. */
export const s3Server = Effect.flatMap(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "media-gateway-s3-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  ),
  startDemoArchive
).pipe(
  Effect.map((place) => ({ ...place, prefix: "a/" })),
  Effect.orDie
)
