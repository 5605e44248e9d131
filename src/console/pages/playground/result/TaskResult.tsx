/** A video or image task, which is followed to its end and then shown. */
import { Alert, Card, Group, Loader, Progress, Stack, Text, Title } from "@mantine/core"
import { useInterval } from "@mantine/hooks"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import type { Connection } from "../../../gateway/client.ts"
import { failureOf } from "../../../gateway/failures.ts"
import { useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { QueueNote, type QueuePlace } from "../../../parts/QueueNote.tsx"
import { Id, Timestamp } from "../../../parts/texts.tsx"
import { ReceiptCard } from "./ReceiptCard.tsx"
import { ImageFiles, VideoFile } from "./TaskFiles.tsx"

/**
 * The long-polling time of a request in seconds, so that the end of the task is known immediately.
 */
const WAIT_SECONDS = 25
/** The same while the order waits for a place, which changes before the end. */
const QUEUE_WAIT_SECONDS = 4
const PAUSE_MILLIS = 500
const LOST_MILLIS = 3000
const SECOND = 1000
/**
 * The limits of the progress bar, in percent: it is never empty, and not full before the task has
 * ended.
 */
const MAX_RUNNING_PERCENT = 97
const MIN_PERCENT = 3
const MAX_PERCENT = 100

const isImages = (id: string): boolean => id.startsWith("im_")

/** The time at which the order was placed, from the UUID version 7 in its id. */
const orderedAt = (id: string): number =>
  Number.parseInt(id.slice(3).replace("-", "").slice(0, 12), 16)

interface RunningTask {
  readonly state: "processing"
  /** The place in the queue of the channel; null if the order does not wait for one. */
  readonly queue: QueuePlace | null
}
interface FailedTask {
  readonly state: "failed"
  readonly reason: string
}
interface FinishedTask {
  readonly state: "succeeded"
  readonly file:
    | { readonly video: string; readonly hasLastFrame: boolean }
    | { readonly images: number }
  readonly expiresAt: string | null
}

const pollOptions = (id: string, wait: number) => ({ params: { task_id: id }, query: { wait } })
const reasonOf = ({ code, message }: { readonly code: string; readonly message: string }) =>
  `${code}: ${message}`

type Task = RunningTask | FailedTask | FinishedTask

const readVideo = async (
  send: Connection["send"],
  id: string,
  wait: number,
  signal: AbortSignal
): Promise<Task> => {
  const task = await send((gateway) => gateway.videos.read(pollOptions(id, wait)), signal)
  if (task.task_status === "processing") return { state: "processing", queue: task.queue ?? null }
  if (task.task_status === "failed") return { state: "failed", reason: reasonOf(task.error) }
  const { video_url: video, last_frame_url: lastFrame } = task.content
  const file = { video, hasLastFrame: lastFrame !== undefined }
  return { state: "succeeded", file, expiresAt: task.expires_at ?? null }
}

const readImages = async (
  send: Connection["send"],
  id: string,
  wait: number,
  signal: AbortSignal
): Promise<Task> => {
  const task = await send((gateway) => gateway.images.read(pollOptions(id, wait)), signal)
  if (task.task_status === "processing") return { state: "processing", queue: null }
  if (task.task_status === "failed") return { state: "failed", reason: reasonOf(task.error) }
  const file = { images: task.data.length }
  return { state: "succeeded", file, expiresAt: task.expires_at ?? null }
}

const useTask = (id: string) => {
  const { connection } = useSession()
  return useQuery({
    queryKey: ["task", id],
    queryFn: ({ signal, client }) => {
      const task = client.getQueryData<Task>(["task", id])
      const isQueued = task?.state === "processing" && task.queue !== null
      // The first answer tells whether the order waits for a place, so it must not be waited for.
      const wait = task === undefined ? 0 : isQueued ? QUEUE_WAIT_SECONDS : WAIT_SECONDS
      return (isImages(id) ? readImages : readVideo)(connection.send, id, wait, signal)
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchIntervalInBackground: true,
    refetchInterval: ({ state: { data, error } }) => {
      if (data !== undefined && data.state !== "processing") return false
      if (error !== null) return failureOf(error).code === "task_not_found" ? false : LOST_MILLIS
      return PAUSE_MILLIS
    }
  })
}

const useElapsedSeconds = (since: number): number => {
  const [now, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), SECOND, { autoInvoke: true })
  return Math.max(0, Math.floor((now - since) / SECOND))
}

interface ProgressProps {
  readonly id: string
  readonly usual: number | null
}

const TaskProgress = ({ id, usual }: ProgressProps) => {
  const { t } = useTranslation("playground")
  const elapsedSeconds = useElapsedSeconds(orderedAt(id))
  const percent =
    usual === null
      ? MAX_PERCENT
      : Math.min(
          MAX_RUNNING_PERCENT,
          Math.max(MIN_PERCENT, (elapsedSeconds / Math.max(usual, 1)) * MAX_PERCENT)
        )
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Loader size="sm" />
        <Text role="status">{t("making")}</Text>
      </Group>
      <Progress
        value={percent}
        striped={usual === null}
        animated={usual === null}
        aria-label={t("progress")}
      />
      <Text size="sm" c="dimmed">
        {t("elapsed", { seconds: elapsedSeconds })}
        {" · "}
        {usual === null ? t("usualUnknown") : t("usual", { seconds: Math.ceil(usual) })}
      </Text>
    </Stack>
  )
}

const Files = ({
  id,
  finishedTask
}: {
  readonly id: string
  readonly finishedTask: FinishedTask
}) => {
  const { t } = useTranslation("playground")
  const { file, expiresAt } = finishedTask
  return (
    <>
      {"video" in file ? (
        <VideoFile id={id} url={file.video} hasLastFrame={file.hasLastFrame} />
      ) : (
        <ImageFiles id={id} count={file.images} />
      )}
      {expiresAt === null ? null : (
        <Text size="sm" c="dimmed">
          {t("until")} <Timestamp at={expiresAt} />
        </Text>
      )}
    </>
  )
}

interface Props {
  readonly id: string
  /** The seconds that such an order usually takes; null where that is unknown. */
  readonly usual: number | null
}

export const TaskResult = ({ id, usual }: Props) => {
  const { t } = useTranslation("playground")
  const task = useTask(id)
  const cache = useQueryClient()
  const status = task.data?.state ?? "processing"
  useEffect(() => {
    // The settlement changed the balance, so quotes are fetched again.
    if (status !== "processing") void cache.invalidateQueries({ queryKey: ["quote"] })
  }, [status, cache])
  const result = task.data
  const queue = result?.state === "processing" ? result.queue : null
  const isNotFound = task.isError && failureOf(task.error).code === "task_not_found"
  return (
    <Stack>
      <Card withBorder component="section" aria-label={t("result")}>
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {isNotFound ? t("result") : t(`states.${status}`)}
            </Title>
            <Id id={id} />
          </Group>
          {task.isError ? (
            <FailureNote error={task.error} onRetry={() => void task.refetch()} />
          ) : null}
          {status !== "processing" || isNotFound ? null : queue === null ? (
            <TaskProgress id={id} usual={usual} />
          ) : (
            <QueueNote {...queue} />
          )}
          {result?.state === "failed" ? (
            <Alert color="red" role="alert" title={t("failed")}>
              <Text size="sm" className="said">
                {result.reason}
              </Text>
              <Text size="sm">{t("nothingCharged")}</Text>
            </Alert>
          ) : null}
          {result?.state === "succeeded" ? <Files id={id} finishedTask={result} /> : null}
        </Stack>
      </Card>
      {status === "succeeded" ? <ReceiptCard id={`us_${id}`} /> : null}
    </Stack>
  )
}
