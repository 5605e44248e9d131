/** The result files of an order, loaded with the session's key and shown from memory. */
import { Button, Group, Image, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { type TaskKind, taskPaths } from "../../../../domain/orderIds.ts"
import { failureOf } from "../../../gateway/failures.ts"
import { request, save } from "../../../gateway/files.ts"
import { useApiQuery, useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { QueryView } from "../../../parts/QueryView.tsx"

const HEIGHT = 320

/** An object URL for a blob, which is revoked when the blob is no longer shown. */
const useAddress = (blob: Blob | undefined): string | undefined => {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (blob === undefined) return
    const objectUrl = URL.createObjectURL(blob)
    setAddress(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [blob])
  return address
}

const Medium = ({
  path,
  name,
  label,
  form
}: {
  readonly path: string
  /** The name of the saved file, without its extension, which follows from the media type. */
  readonly name: string
  readonly label: string
  readonly form: "video" | "image" | "sound"
}) => {
  const { t } = useTranslation("orders")
  const { session } = useSession()
  const file = useQuery({
    queryKey: ["orderFiles", path],
    queryFn: async ({ signal }) => (await request(session, path, { signal })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
    // The file may be large, so it is dropped from the cache as soon as it is no longer shown.
    gcTime: 0
  })
  const address = useAddress(file.data)
  if (file.isError) {
    return failureOf(file.error).code === "not_found" ? (
      <Text c="dimmed">{t("player.gone")}</Text>
    ) : (
      <FailureNote error={file.error} onRetry={() => void file.refetch()} />
    )
  }
  if (address === undefined || file.data === undefined) {
    return <Skeleton height={HEIGHT} role="status" aria-label={label} />
  }
  const blob = file.data
  const ending = blob.type.split("/")[1]?.replace(/[^a-z0-9].*/, "") ?? "bin"
  return (
    <Stack gap="xs">
      {form === "video" ? (
        // biome-ignore lint/a11y/useMediaCaption: vendors make no captions
        <video
          src={address}
          controls
          aria-label={label}
          style={{ width: "100%", maxHeight: 480, background: "black", borderRadius: 8 }}
        />
      ) : form === "sound" ? (
        // biome-ignore lint/a11y/useMediaCaption: the text of the sound is not stored
        <audio src={address} controls aria-label={label} style={{ width: "100%" }} />
      ) : (
        <Image src={address} alt={label} radius="md" mah={480} fit="contain" />
      )}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={16} />}
          onClick={() => save(blob, `${name}.${ending}`)}
          aria-label={`${t("player.download")}: ${label}`}
        >
          {t("player.download")}
        </Button>
      </Group>
    </Stack>
  )
}

const ImageGrid = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("orders")
  const task = useApiQuery(["orders", "images", id], (gateway) =>
    gateway.images.read({ params: { task_id: id }, query: { wait: 0 } })
  )
  return (
    <QueryView query={task}>
      {(images) => (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {images.task_status === "succeeded"
            ? images.data.map((_, n) => (
                <Medium
                  // biome-ignore lint/suspicious/noArrayIndexKey: an image's id is its position
                  key={n}
                  path={`/v1/images/${id}/content/${n}`}
                  name={`${id}-${n}`}
                  label={t("player.image", { n: n + 1 })}
                  form="image"
                />
              ))
            : null}
        </SimpleGrid>
      )}
    </QueryView>
  )
}

export const OrderPlayer = ({ id, kind }: { readonly id: string; readonly kind: TaskKind }) => {
  const { t } = useTranslation("orders")
  if (kind === "image") return <ImageGrid id={id} />
  const path = `${taskPaths[kind]}/${id}/content`
  return kind === "video" ? (
    <Medium path={path} name={id} label={t("player.video")} form="video" />
  ) : (
    <Medium path={path} name={id} label={t("player.sound")} form="sound" />
  )
}
