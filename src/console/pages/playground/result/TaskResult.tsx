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
import { Id, Moment } from "../../../parts/texts.tsx"
import { ReceiptCard } from "./ReceiptCard.tsx"
import { ImageFiles, VideoFile } from "./TaskFiles.tsx"

/**
 * The long-polling time of a request in seconds, so that the end of the task is known immediately.
 */
const WAIT_SECONDS = 25
const PAUSE_MILLIS = 500
const LOST_MILLIS = 3000
const SECOND = 1000
/**
 * The limits of the progress bar, in percent: it is never empty, and not full before the task has
 * ended.
 */
const NEARLY = 97
const BEGUN = 3
const WHOLE = 100

const isImages = (id: string): boolean => id.startsWith("im_")

/** The time at which the order was placed, from the UUID version 7 in its id. */
const orderedAt = (id: string): number =>
  Number.parseInt(id.slice(3).replace("-", "").slice(0, 12), 16)

interface Running {
  readonly state: "processing"
}
interface Failed {
  readonly state: "failed"
  readonly why: string
}
interface Made {
  readonly state: "succeeded"
  readonly file: { readonly video: string } | { readonly images: number }
  readonly expiresAt: string | null
}

const asked = (id: string) => ({ params: { task_id: id }, query: { wait: WAIT_SECONDS } })
const whyOf = ({ code, message }: { readonly code: string; readonly message: string }) =>
  `${code}: ${message}`

const readVideo = async (
  ask: Connection["ask"],
  id: string,
  signal: AbortSignal
): Promise<Running | Failed | Made> => {
  const task = await ask((gateway) => gateway.videos.read(asked(id)), signal)
  if (task.task_status === "processing") return { state: "processing" }
  if (task.task_status === "failed") return { state: "failed", why: whyOf(task.error) }
  const file = { video: task.content.video_url }
  return { state: "succeeded", file, expiresAt: task.expires_at ?? null }
}

const readImages = async (
  ask: Connection["ask"],
  id: string,
  signal: AbortSignal
): Promise<Running | Failed | Made> => {
  const task = await ask((gateway) => gateway.images.read(asked(id)), signal)
  if (task.task_status === "processing") return { state: "processing" }
  if (task.task_status === "failed") return { state: "failed", why: whyOf(task.error) }
  const file = { images: task.data.length }
  return { state: "succeeded", file, expiresAt: task.expires_at ?? null }
}

const useTask = (id: string) => {
  const { connection } = useSession()
  return useQuery({
    queryKey: ["task", id],
    queryFn: ({ signal }) => (isImages(id) ? readImages : readVideo)(connection.ask, id, signal),
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

const OnItsWay = ({ id, usual }: { readonly id: string; readonly usual: number | null }) => {
  const { t } = useTranslation("playground")
  const elapsed = useElapsedSeconds(orderedAt(id))
  const part =
    usual === null
      ? WHOLE
      : Math.min(NEARLY, Math.max(BEGUN, (elapsed / Math.max(usual, 1)) * WHOLE))
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Loader size="sm" />
        <Text role="status">{t("making")}</Text>
      </Group>
      <Progress
        value={part}
        striped={usual === null}
        animated={usual === null}
        aria-label={t("progress")}
      />
      <Text size="sm" c="dimmed">
        {t("elapsed", { seconds: elapsed })}
        {" · "}
        {usual === null ? t("usualUnknown") : t("usual", { seconds: Math.ceil(usual) })}
      </Text>
    </Stack>
  )
}

const Files = ({ id, made }: { readonly id: string; readonly made: Made }) => {
  const { t } = useTranslation("playground")
  const { file, expiresAt } = made
  return (
    <>
      {"video" in file ? (
        <VideoFile id={id} url={file.video} />
      ) : (
        <ImageFiles id={id} count={file.images} />
      )}
      {expiresAt === null ? null : (
        <Text size="sm" c="dimmed">
          {t("until")} <Moment at={expiresAt} />
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
  const shown = task.data
  const isNobodys = task.isError && failureOf(task.error).code === "task_not_found"
  return (
    <Stack>
      <Card withBorder component="section" aria-label={t("result")}>
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {isNobodys ? t("result") : t(`states.${status}`)}
            </Title>
            <Id id={id} />
          </Group>
          {task.isError ? (
            <FailureNote error={task.error} onAgain={() => void task.refetch()} />
          ) : null}
          {status === "processing" && !isNobodys ? <OnItsWay id={id} usual={usual} /> : null}
          {shown?.state === "failed" ? (
            <Alert color="red" role="alert" title={t("failed")}>
              <Text size="sm" className="said">
                {shown.why}
              </Text>
              <Text size="sm">{t("nothingCharged")}</Text>
            </Alert>
          ) : null}
          {shown?.state === "succeeded" ? <Files id={id} made={shown} /> : null}
        </Stack>
      </Card>
      {status === "succeeded" ? <ReceiptCard id={`us_${id}`} /> : null}
    </Stack>
  )
}
