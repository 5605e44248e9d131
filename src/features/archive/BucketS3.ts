/** A bucket of the S3 protocol: at AWS, Cloudflare R2, or a self-hosted server. */
import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  S3Client
} from "@aws-sdk/client-s3"
import { Upload } from "@aws-sdk/lib-storage"
import { getSignedUrl } from "@aws-sdk/s3-request-presigner"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Layer, Stream } from "effect"
import { dispositionOf, servedType } from "../../domain/files/mediaTypes.ts"
import { type ArchiveBucket, Bucket, BucketFault } from "../../services/results/ArchiveBucket.ts"

export interface BucketLocation {
  readonly bucket: string
  /** The prefix of every key: empty, or ending with a slash. */
  readonly prefix: string
  /** Null means AWS. */
  readonly endpoint: string | null
  readonly region: string
}

/**
 * The size of a part. A copy has two parts in memory: one that is being filled, and one that is
 * being sent.
 */
const PART_BYTES = 5 * 1024 * 1024

const faultOf = (cause: unknown): BucketFault =>
  new BucketFault({
    message: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
  })

/**
 * Scripts in a file that a browser displays run with the rights of the bucket's origin, so only
 * media of known types may be displayed.
 */
const servedHeaders = (type: string) => {
  const contentType = servedType(type)
  return { contentType, disposition: dispositionOf(contentType) }
}

const makeBucket = (
  { bucket: Bucket, prefix }: BucketLocation,
  client: S3Client
): ArchiveBucket => ({
  put: Effect.fnUntraced(function* <E>(
    key: string,
    type: string,
    bytes: Stream.Stream<Uint8Array, E>,
    metadata: Readonly<Record<string, string>> = {}
  ) {
    const { contentType, disposition } = servedHeaders(type)
    const sha256 = createHash("sha256")
    let length = 0
    const measured = Stream.tap(bytes, (chunk) =>
      Effect.sync(() => {
        length += chunk.byteLength
        sha256.update(chunk)
      })
    )
    const Body = yield* NodeStream.toReadable(measured)
    const upload = new Upload({
      client,
      params: {
        Bucket,
        Key: prefix + key,
        Body,
        ContentType: contentType,
        ContentDisposition: disposition,
        Metadata: metadata
      },
      partSize: PART_BYTES,
      queueSize: 1
    })
    yield* Effect.tryPromise({ try: () => upload.done(), catch: faultOf }).pipe(
      Effect.onInterrupt(() => Effect.promise(() => upload.abort())),
      Effect.ensuring(Effect.sync(() => Body.destroy()))
    )
    return { bytes: length, sha256: sha256.digest("hex") }
  }),
  removeAll: Effect.fnUntraced(function* (keyPrefix) {
    const listing = yield* Effect.tryPromise({
      try: (abortSignal) =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix + keyPrefix }), {
          abortSignal
        }),
      catch: faultOf
    })
    for (const { Key } of listing.Contents ?? []) {
      yield* Effect.tryPromise({
        try: (abortSignal) =>
          client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }),
        catch: faultOf
      })
    }
    if (listing.IsTruncated === true)
      return yield* faultOf("there are more files than one page lists")
  }),
  get: Effect.fnUntraced(function* (key, range) {
    const object = {
      Bucket,
      Key: prefix + key,
      ...(range === null ? {} : { Range: `bytes=${range.start}-${range.end}` })
    }
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const { Body } = yield* Effect.tryPromise({
      try: () => client.send(new GetObjectCommand(object), { abortSignal: controller.signal }),
      catch: faultOf
    })
    if (!(Body instanceof Readable)) return yield* faultOf("the bucket answered without a body")
    return NodeStream.fromReadable<Uint8Array, BucketFault>({
      evaluate: () => Body,
      onError: faultOf
    })
  }),
  presign: (key, type, expiresIn) => {
    const { contentType, disposition } = servedHeaders(type)
    const file = new GetObjectCommand({
      Bucket,
      Key: prefix + key,
      ResponseContentType: contentType,
      ResponseContentDisposition: disposition
    })
    return Effect.tryPromise({
      try: () => getSignedUrl(client, file, { expiresIn }),
      catch: faultOf
    })
  }
})

/**
 * The client of AWS finds the credentials itself: in `AWS_...` variables, a profile, or the
 * machine's role.
 */
export const layerBucketS3 = (location: BucketLocation) =>
  Layer.effect(
    Bucket,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(
          () =>
            new S3Client({
              region: location.region,
              // Self-hosted servers expect the bucket in the path, and do not know newer checksums.
              ...(location.endpoint === null
                ? {}
                : { endpoint: location.endpoint, forcePathStyle: true }),
              requestChecksumCalculation: "WHEN_REQUIRED",
              responseChecksumValidation: "WHEN_REQUIRED"
            })
        ),
        (client) => Effect.sync(() => client.destroy())
      ),
      (client) => makeBucket(location, client)
    )
  )
