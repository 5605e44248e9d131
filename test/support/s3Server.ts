/** A server of the S3 protocol on this machine, with a bucket. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import S3rver from "s3rver"

// The only ones that the server knows, where the official client looks for them.
process.env.AWS_ACCESS_KEY_ID = "S3RVER"
process.env.AWS_SECRET_ACCESS_KEY = "S3RVER"

const BUCKET = "results"

/** Serves until the scope closes; answers the place of its bucket. */
export const s3Server = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const directory = mkdtempSync(join(tmpdir(), "media-gateway-s3-"))
      const server = new S3rver({
        address: "127.0.0.1",
        port: 0,
        silent: true,
        directory,
        configureBuckets: [{ name: BUCKET }]
      })
      return { server, directory, address: await server.run() }
    }),
    ({ server, directory }) =>
      Effect.promise(async () => {
        await server.close()
        rmSync(directory, { recursive: true, force: true })
      })
  ),
  ({ address }) => ({
    bucket: BUCKET,
    prefix: "a/",
    endpoint: `http://127.0.0.1:${address.port}`,
    region: "us-east-1"
  })
)
