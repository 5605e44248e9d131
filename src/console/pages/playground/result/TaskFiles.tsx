/** The files of a task, loaded with the session's key and shown from memory. */
import {
  Anchor,
  Button,
  Group,
  Image,
  Modal,
  SimpleGrid,
  Skeleton,
  Stack,
  UnstyledButton
} from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { request, save } from "../../../gateway/files.ts"
import { useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { useBlobAddress } from "./useBlobAddress.ts"

const HEIGHT = 220
const KEPT_MILLIS = 60_000

const useFile = (path: string) => {
  const { session } = useSession()
  return useQuery({
    queryKey: ["file", path],
    queryFn: async ({ signal }) => (await request(session, path, { signal })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MILLIS
  })
}

const nameOf = (stem: string, blob: Blob): string => {
  const [, kind = "bin"] = /^(?:image|video)\/([a-z0-9]+)/.exec(blob.type) ?? []
  return `${stem}.${kind === "jpeg" ? "jpg" : kind}`
}

const Download = ({ blob, stem }: { readonly blob: Blob | undefined; readonly stem: string }) => {
  const { t } = useTranslation("playground")
  return (
    <Button
      size="xs"
      variant="default"
      disabled={blob === undefined}
      leftSection={<IconDownload size={14} />}
      aria-label={`${t("download")}: ${stem}`}
      onClick={() => blob !== undefined && save(blob, nameOf(stem, blob))}
    >
      {t("download")}
    </Button>
  )
}

/** A link to the vendor's URL, only if it is an HTTP URL: a vendor can send any text. */
const VendorLink = ({ url }: { readonly url: string }) => {
  const { t } = useTranslation("playground")
  return /^https?:\/\//i.test(url) ? (
    <Anchor href={url} target="_blank" rel="noreferrer noopener" size="sm">
      {t("vendorLink")}
    </Anchor>
  ) : null
}

interface VideoProps {
  readonly id: string
  readonly url: string
  readonly hasLastFrame: boolean
}

export const VideoFile = ({ id, url, hasLastFrame }: VideoProps) => {
  const { t } = useTranslation("playground")
  const file = useFile(`/v1/videos/${id}/content`)
  const address = useBlobAddress(file.data)
  if (file.isError) {
    return (
      <Stack gap="xs">
        <FailureNote error={file.error} onRetry={() => void file.refetch()} />
        <VendorLink url={url} />
      </Stack>
    )
  }
  return (
    <Stack gap="xs">
      {address === null ? (
        <Skeleton height={HEIGHT} role="status" aria-label={t("loadingFile")} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: vendors make no captions
        <video className="film" controls playsInline src={address} aria-label={t("video")} />
      )}
      <Group gap="sm">
        <Download blob={file.data} stem={id} />
        <VendorLink url={url} />
      </Group>
      {hasLastFrame ? (
        <ImageFile
          path={`/v1/videos/${id}/content?variant=last_frame`}
          name={t("uses.last_frame")}
          stem={`${id}-last-frame`}
        />
      ) : null}
    </Stack>
  )
}

interface ImageProps {
  readonly path: string
  readonly name: string
  /** The name of the saved file, without its ending. */
  readonly stem: string
}

const ImageFile = ({ path, name, stem }: ImageProps) => {
  const { t } = useTranslation("playground")
  const [isLarge, setLarge] = useState(false)
  const file = useFile(path)
  const address = useBlobAddress(file.data)
  if (file.isError) return <FailureNote error={file.error} onRetry={() => void file.refetch()} />
  return (
    <Stack gap={6}>
      {address === null ? (
        <Skeleton height={HEIGHT} role="status" aria-label={t("loadingFile")} />
      ) : (
        <UnstyledButton onClick={() => setLarge(true)} aria-label={t("enlarge", { name })}>
          <Image src={address} alt={name} radius="md" />
        </UnstyledButton>
      )}
      <Group>
        <Download blob={file.data} stem={stem} />
      </Group>
      <Modal
        opened={isLarge && address !== null}
        onClose={() => setLarge(false)}
        title={name}
        size="auto"
        closeButtonProps={{ "aria-label": t("closeImage") }}
      >
        <Image src={address} alt={name} mah="80vh" fit="contain" />
      </Modal>
    </Stack>
  )
}

export const ImageFiles = ({ id, count }: { readonly id: string; readonly count: number }) => {
  const { t } = useTranslation("playground")
  return (
    <SimpleGrid cols={count === 1 ? 1 : { base: 1, xs: 2 }} spacing="sm">
      {Array.from({ length: count }, (_, n) => (
        <ImageFile
          // biome-ignore lint/suspicious/noArrayIndexKey: an image is identified by its position
          key={n}
          path={`/v1/images/${id}/content/${n}`}
          name={t("image", { number: n + 1 })}
          stem={`${id}-${n + 1}`}
        />
      ))}
    </SimpleGrid>
  )
}
