/** A bucket behind the S3 protocol: of AWS, of Cloudflare R2, or of a server of one's own. */
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

export interface BucketPlace {
  readonly bucket: string
  /** Before every key; empty, or ends with a slash. */
  readonly prefix: string
  /** Null is AWS. */
  readonly endpoint: string | null
  readonly region: string
}

/** A copy has two of them in memory: one that fills, and one on its way. */
const PART_BYTES = 5 * 1024 * 1024

const faultOf = (cause: unknown): BucketFault =>
  new BucketFault({
    message: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
  })

/** Files lie under the bucket's own origin, which may be a page of somebody else's too. */
const servedAs = (type: string) => {
  const contentType = servedType(type)
  return { contentType, disposition: dispositionOf(contentType) }
}

const makeBucket = ({ bucket: Bucket, prefix }: BucketPlace, client: S3Client): ArchiveBucket => ({
  put: Effect.fnUntraced(function* <E>(
    key: string,
    type: string,
    bytes: Stream.Stream<Uint8Array, E>
  ) {
    const { contentType, disposition } = servedAs(type)
    const sha256 = createHash("sha256")
    let length = 0
    const counted = Stream.tap(bytes, (chunk) =>
      Effect.sync(() => {
        length += chunk.byteLength
        sha256.update(chunk)
      })
    )
    const Body = yield* NodeStream.toReadable(counted)
    const upload = new Upload({
      client,
      params: {
        Bucket,
        Key: prefix + key,
        Body,
        ContentType: contentType,
        ContentDisposition: disposition
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
  removeAll: Effect.fnUntraced(function* (begin) {
    const listed = yield* Effect.tryPromise({
      try: (abortSignal) =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix + begin }), { abortSignal }),
      catch: faultOf
    })
    for (const { Key } of listed.Contents ?? []) {
      yield* Effect.tryPromise({
        try: (abortSignal) =>
          client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }),
        catch: faultOf
      })
    }
    if (listed.IsTruncated === true)
      return yield* faultOf("there are more files than one page lists")
  }),
  get: (key, part) =>
    Effect.gen(function* () {
      const range = part === null ? {} : { Range: `bytes=${part.start}-${part.end}` }
      const wanted = { Bucket, Key: prefix + key, ...range }
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const { Body } = yield* Effect.tryPromise({
        try: () => client.send(new GetObjectCommand(wanted), { abortSignal: controller.signal }),
        catch: faultOf
      })
      if (!(Body instanceof Readable)) return yield* faultOf("the bucket answered without a body")
      return NodeStream.fromReadable<Uint8Array, BucketFault>({
        evaluate: () => Body,
        onError: faultOf
      })
    }),
  presign: (key, type, expiresIn) => {
    const { contentType, disposition } = servedAs(type)
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

/** Credentials come from the usual variables of AWS. */
export const layerBucketS3 = (place: BucketPlace) =>
  Layer.effect(
    Bucket,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(
          () =>
            new S3Client({
              region: place.region,
              // Servers of one's own have their buckets in the path, and know no newer checksums.
              ...(place.endpoint === null
                ? {}
                : { endpoint: place.endpoint, forcePathStyle: true }),
              requestChecksumCalculation: "WHEN_REQUIRED",
              responseChecksumValidation: "WHEN_REQUIRED"
            })
        ),
        (client) => Effect.sync(() => client.destroy())
      ),
      (client) => makeBucket(place, client)
    )
  )
