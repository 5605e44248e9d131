/** A server of the S3 protocol on this machine, for trying out the archive. */
import { Effect } from "effect"
import { ArchiveUnavailable } from "./archiveClient.ts"
import type { BucketLocation } from "./BucketS3.ts"

/** The only credentials that s3rver accepts. */
const CREDENTIALS = "S3RVER"
const BUCKET = "demo"

/** Starts a server that stores its files in the directory and runs until the scope closes. */
export const startDemoArchive = Effect.fnUntraced(function* (directory: string) {
  // s3rver is a development dependency, as only the demo needs it.
  const { default: S3rver } = yield* Effect.tryPromise({
    try: () => import("s3rver"),
    catch: () =>
      new ArchiveUnavailable({
        message: "GATEWAY_DEMO_ARCHIVE needs the package s3rver, which a checkout has: npm ci"
      })
  })
  const { port } = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = new S3rver({
        address: "127.0.0.1",
        port: 0,
        silent: true,
        directory,
        configureBuckets: [{ name: BUCKET }]
      })
      return { server, ...(await server.run()) }
    }),
    ({ server }) => Effect.promise(() => server.close())
  )
  process.env.AWS_ACCESS_KEY_ID = CREDENTIALS
  process.env.AWS_SECRET_ACCESS_KEY = CREDENTIALS
  return {
    bucket: BUCKET,
    prefix: "",
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1"
  } satisfies BucketLocation
})
