import {
  ActionIcon,
  Button,
  FileButton,
  Group,
  Input,
  Select,
  Stack,
  Text,
  TextInput
} from "@mantine/core"
import { IconFile, IconLink, IconTrash } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { generateId, type Medium, type MediumUse, mediumUsesOf } from "./draft.ts"
import { FileName } from "./FileName.tsx"
import { type FormProps, fieldAttribute } from "./faults.ts"
import { asDataUrl, MOST_BYTES, megabytes } from "./localFiles.ts"

const MAX_FILES = 16

const videoUses: ReadonlyArray<MediumUse> = ["reference_video", "edit_video", "extend_video"]
/** The roles that a file can have by its type, the usual one first. */
const usesOfTypes = [
  ["image/", ["image", "reference_image", "first_frame", "middle_frame", "last_frame"]],
  ["audio/", ["reference_audio"]],
  ["video/", videoUses]
] as const satisfies ReadonlyArray<readonly [type: string, uses: ReadonlyArray<MediumUse>]>

/** The role that a file gets; undefined if the model has none for its type. */
const mediumUseOf = (type: string, uses: ReadonlyArray<MediumUse>): MediumUse | undefined =>
  usesOfTypes.find(([prefix]) => type.startsWith(prefix))?.[1].find((use) => uses.includes(use))

const acceptOf = (uses: ReadonlyArray<MediumUse>): string =>
  usesOfTypes
    .filter(([, usesOfType]) => usesOfType.some((use) => uses.includes(use)))
    .map(([prefix]) => `${prefix}*`)
    .join(",")

/** Whether an earlier order can stand in place of the video's address. */
const isBaseVideo = (use: MediumUse): boolean => use === "edit_video" || use === "extend_video"

/** The media from which the order is made, as addresses or as files of the reader. */
export const MediaRows = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const [trouble, setTrouble] = useState<string | null>(null)
  const { media } = draft
  const uses = mediumUsesOf(model)
  const total = media.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0)
  const update = (id: string, patch: Partial<Medium>) =>
    change({ media: media.map((item) => (item.id === id ? { ...item, ...patch } : item)) })

  const addFile = async (file: File | null) => {
    if (file === null) return
    if (total + file.size > MOST_BYTES) {
      setTrouble(t("tooLarge", { size: megabytes(file.size), most: megabytes(MOST_BYTES) }))
      return
    }
    const use = mediumUseOf(file.type, uses)
    if (use === undefined) {
      setTrouble(t("wrongFile", { name: file.name }))
      return
    }
    setTrouble(null)
    const url = await asDataUrl(file)
    change({
      media: [...media, { id: generateId(), use, url, file: { name: file.name, bytes: file.size } }]
    })
  }

  return (
    <Stack gap="xs" role="group" aria-label={t("media")}>
      <Group gap={6} justify="space-between">
        <Input.Label labelElement="div">{t("media")}</Input.Label>
        {model.input_forms.length === 0 ? null : (
          <Text size="xs" c="dimmed">
            {t("forms", { forms: model.input_forms.join(", ") })}
          </Text>
        )}
      </Group>
      {media.map(({ id, use, url, file }, index) => (
        <Group key={id} gap="xs" wrap="nowrap" align="center">
          {uses.length === 1 ? null : (
            <Select
              w={150}
              aria-label={t("mediumUse", { number: index + 1 })}
              allowDeselect={false}
              data={uses.map((value) => ({ value, label: t(`uses.${value}`) }))}
              value={use}
              onChange={(nextValue) =>
                update(id, { use: uses.find((item) => item === nextValue) ?? use })
              }
            />
          )}
          {file === null ? (
            <TextInput
              flex={1}
              aria-label={t("mediumAddress", { number: index + 1 })}
              placeholder={isBaseVideo(use) ? t("baseVideoAddress") : "https://…"}
              value={url}
              onChange={(event) => update(id, { url: event.currentTarget.value.trim() })}
              {...(index === 0 ? fieldAttribute("media") : {})}
            />
          ) : (
            <Group flex={1} gap="xs" wrap="nowrap" miw={0}>
              <FileName {...file} />
            </Group>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("removeMedium", { number: index + 1 })}
            onClick={() => change({ media: media.filter((item) => item.id !== id) })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {trouble === null ? null : <Input.Error role="alert">{trouble}</Input.Error>}
      {errorOf("media") === false ? null : <Input.Error>{errorOf("media")}</Input.Error>}
      {media.length === MAX_FILES ? null : (
        <Group gap="xs">
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconLink size={14} />}
            onClick={() =>
              change({
                media: [
                  ...media,
                  { id: generateId(), use: uses[0] ?? "image", url: "", file: null }
                ]
              })
            }
          >
            {t("addAddress")}
          </Button>
          <FileButton accept={acceptOf(uses)} onChange={(file) => void addFile(file)}>
            {(props) => (
              <Button
                {...props}
                variant="subtle"
                size="compact-sm"
                leftSection={<IconFile size={14} />}
              >
                {t("addFile", { most: megabytes(MOST_BYTES) })}
              </Button>
            )}
          </FileButton>
        </Group>
      )}
    </Stack>
  )
}
