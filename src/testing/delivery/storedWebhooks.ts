/** Rows of webhooks, archived results and uploaded files in memory. */
import type { Redacted } from "effect"
import type { WebhookEndpoint } from "../../features/webhooks/WebhookEndpoints.ts"
import type { DeliveryAttempt, DeliveryState } from "../../services/delivery/WebhookMessages.ts"
import type { NewFile } from "../../services/files/Files.ts"
import type { ArchivedFile } from "../../services/results/ArchiveBucket.ts"

export interface StoredEndpoint extends WebhookEndpoint {
  readonly secret: Redacted.Redacted
  readonly old: { readonly secret: Redacted.Redacted; readonly until: number } | null
}

export interface StoredMessage {
  readonly organizationId: string
  readonly id: string
  readonly endpointId: string
  readonly receiver: string
  readonly callbackUrl: string | null
  readonly type: string
  readonly happenedAt: Date
  readonly taskId: string | null
  readonly data: unknown
  state: DeliveryState
  nextAttemptAt: number | null
  tries: number
  lease: bigint
  endedAt: number | null
  readonly attempts: Array<DeliveryAttempt>
}

export interface StoredArchive {
  readonly organizationId: string
  readonly taskId: string
  readonly createdAt: number
  state: "waiting" | "kept" | "failed" | "removing"
  files: ReadonlyArray<ArchivedFile> | null
  /** When the copy was completed. */
  storedAt: number | null
  nextTryAt: number
  tries: number
  lease: bigint
}

export interface StoredFile {
  readonly added: NewFile
  readonly createdAt: number
  /** The chunks of the file by their number, counted from 0. */
  readonly chunks: Map<number, Uint8Array>
  sha256: string | null
  state: "pending" | "kept" | "removing"
  dueAt: number
  lease: bigint
}
