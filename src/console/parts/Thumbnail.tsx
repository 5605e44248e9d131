/** A small picture of an order's result; an icon where there is none to show. */
import { Center, Image } from "@mantine/core"
import { useInViewport } from "@mantine/hooks"
import { IconCircleX, IconLetterCase, IconLoader2, IconMovie, IconPhoto } from "@tabler/icons-react"
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { request } from "../gateway/files.ts"
import { useSession } from "../gateway/hooks.tsx"
import { thumbnailOf } from "./thumbnailOf.ts"

const kindIcons = { video: IconMovie, image: IconPhoto, text: IconLetterCase } as const

interface Props {
  readonly id: string
  readonly kind: keyof typeof kindIcons
  readonly state: "processing" | "succeeded" | "failed"
  /** Whether this tab's key can load a file of the order, once it has succeeded. */
  readonly hasFile: boolean
  readonly size: number
  /** Whether it is outlined as the selected one. */
  readonly isMarked?: boolean
}

/** Larger files are not loaded for a thumbnail. */
const MAX_BYTES = 8_000_000
const KEPT_MILLIS = 600_000

const pathOf = ({ id, kind }: Props): string =>
  kind === "video" ? `/v1/videos/${id}/content` : `/v1/images/${id}/content/0`

const useThumbnail = (props: Props, isVisible: boolean): string | null => {
  const { session } = useSession()
  const { id, kind, state, hasFile } = props
  const { data = null } = useQuery({
    queryKey: ["thumbnail", id],
    queryFn: async ({ signal }) => {
      // A result that is gone has no thumbnail, which is no failure of the page.
      const response = await request(session, pathOf(props), { signal }).catch(() => null)
      if (response === null) return null
      if (Number(response.headers.get("content-length") ?? 0) > MAX_BYTES) {
        await response.body?.cancel()
        return null
      }
      return thumbnailOf(await response.blob()).catch(() => null)
    },
    enabled:
      isVisible && session.apiKey !== null && state === "succeeded" && hasFile && kind !== "text",
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    gcTime: KEPT_MILLIS
  })
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (data === null) return
    const objectUrl = URL.createObjectURL(data)
    setAddress(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [data])
  return data === null ? null : address
}

export const Thumbnail = (props: Props) => {
  const { kind, state, size, isMarked = false } = props
  const { ref, inViewport } = useInViewport()
  const address = useThumbnail(props, inViewport)
  const Icon =
    state === "processing" ? IconLoader2 : state === "failed" ? IconCircleX : kindIcons[kind]
  return (
    <Center
      ref={ref}
      w={size}
      h={size}
      style={{
        flexShrink: 0,
        overflow: "hidden",
        borderRadius: "var(--mantine-radius-sm)",
        background: "var(--mantine-color-default-hover)",
        outline: isMarked ? "2px solid var(--mantine-primary-color-filled)" : undefined
      }}
    >
      {address === null ? (
        <Icon
          size={size / 3}
          aria-hidden
          color={state === "failed" ? "var(--mantine-color-error)" : "var(--mantine-color-dimmed)"}
        />
      ) : (
        <Image src={address} alt="" w={size} h={size} fit="cover" />
      )}
    </Center>
  )
}
