/**
 * Loads the AWS client for the archive's bucket. Only installations with an archive have its
 * packages, which are a sixth of everything that is installed.
 */
import { Effect, Layer, Schema } from "effect"
import type { BucketLocation } from "./BucketS3.ts"

export class ArchiveUnavailable extends Schema.TaggedError<ArchiveUnavailable>()(
  "ArchiveUnavailable",
  { message: Schema.String }
) {}

/** The packages that BucketS3.ts imports: optional peer dependencies of the gateway's package. */
const ARCHIVE_PACKAGES = [
  "@aws-sdk/client-s3",
  "@aws-sdk/lib-storage",
  "@aws-sdk/s3-request-presigner"
]

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND"

const loadBucketS3 = Effect.tryPromise({
  try: () => import("./BucketS3.ts"),
  catch: (cause) =>
    new ArchiveUnavailable({
      message: isMissing(cause)
        ? `an archive needs packages that are not installed: npm install ${ARCHIVE_PACKAGES.join(" ")}`
        : `the archive's client cannot be loaded: ${String(cause)}`
    })
})

/** Fails where packages are missing, and names the missing packages. */
export const layerArchiveBucket = (location: BucketLocation) =>
  Layer.unwrap(Effect.map(loadBucketS3, ({ layerBucketS3 }) => layerBucketS3(location)))
