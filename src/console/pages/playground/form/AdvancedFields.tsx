/** The options of an order, which depend on the kind of its model. */
import {
  Autocomplete,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput
} from "@mantine/core"
import { useEffect, useId, useRef } from "react"
import { useTranslation } from "react-i18next"
import { speechFormats, transcriptFormats } from "../../../../domain/audio/audioFormats.ts"
import { Ratio } from "../../../../domain/video/sizes.ts"
import { choicesOf, editsVideo, formatsOf, hasField, kindOfModel, soundsOf } from "./draft.ts"
import { type Field, type FormProps, fieldAttribute } from "./faults.ts"
import { NoteRows } from "./NoteRows.tsx"
import { ParameterFields } from "./ParameterFields.tsx"
import { TextApiChoice } from "./TextApiChoice.tsx"

const sizes = ["1024x1024", "1536x1024", "1024x1536", "512x512", "256x256"]

const Duration = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const { durations } = model
  const isSmart = draft.duration === -1
  const isEdit = editsVideo(draft)
  const hintOf = ({ only, ...bounds }: NonNullable<typeof durations>) =>
    only === undefined
      ? t("durationHint", bounds)
      : t("durationsHint", { seconds: only.join(", ") })
  return (
    <Stack gap={6}>
      <NumberInput
        label={t("duration")}
        description={isEdit ? t("editDurationHint") : durations && hintOf(durations)}
        // The typed value is not clamped: the gateway's error names the nearest valid value.
        clampBehavior="none"
        allowDecimal={false}
        suffix=" s"
        step={1}
        {...(durations === undefined ? {} : { min: durations.smart ? -1 : 0 })}
        disabled={isSmart || isEdit}
        value={isSmart || isEdit ? "" : draft.duration}
        placeholder={isSmart ? t("smart") : t("default")}
        error={errorOf("duration")}
        onChange={(duration) => change({ duration })}
        {...fieldAttribute("duration")}
      />
      {durations?.smart && !isEdit ? (
        <Switch
          size="sm"
          label={t("smart")}
          checked={isSmart}
          onChange={(event) =>
            change({ duration: event.currentTarget.checked ? -1 : durations.default })
          }
        />
      ) : null}
    </Stack>
  )
}

const Sound = ({ model, draft, change }: FormProps) => {
  const { t } = useTranslation("playground")
  const name = useId()
  return (
    <Stack gap={4}>
      <Input.Label labelElement="div" id={name}>
        {t("sound")}
      </Input.Label>
      <SegmentedControl
        aria-labelledby={name}
        value={draft.sound}
        onChange={(sound) => change({ sound })}
        data={soundsOf(model).map((sound) => ({ value: sound, label: t(`sounds.${sound}`) }))}
      />
    </Stack>
  )
}

const VideoFields = (props: FormProps) => {
  const { t } = useTranslation("playground")
  const { model, draft, change, errorOf } = props
  const { resolutions = [] } = model
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <Duration {...props} />
        <Select
          label={t("resolution")}
          description={resolutions.length === 0 ? t("anyResolution") : t("resolutionHint")}
          data={[...resolutions]}
          disabled={resolutions.length === 0}
          allowDeselect={false}
          value={draft.resolution}
          error={errorOf("resolution")}
          onChange={(resolution) => change({ resolution })}
          {...fieldAttribute("resolution")}
        />
        <Autocomplete
          label={t("ratio")}
          description={t("ratioHint")}
          placeholder={t("default")}
          data={[...(model.ratios ?? Ratio.literals)]}
          value={draft.ratio}
          error={errorOf("ratio")}
          onChange={(ratio) => change({ ratio })}
          {...fieldAttribute("ratio")}
        />
      </SimpleGrid>
      <Sound {...props} />
      <NumberInput
        label={t("maxWait")}
        description={t("maxWaitHint")}
        clampBehavior="none"
        allowDecimal={false}
        suffix=" s"
        min={0}
        step={60}
        placeholder={t("noWait")}
        value={draft.maxWait}
        error={errorOf("max_wait")}
        onChange={(maxWait) => change({ maxWait })}
        {...fieldAttribute("max_wait")}
      />
    </>
  )
}

const ImageFields = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const { images } = model
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <NumberInput
        label={t("n")}
        description={images && t("nHint", { ...images })}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        placeholder={t("default")}
        value={draft.n}
        error={errorOf("n")}
        onChange={(n) => change({ n })}
        {...fieldAttribute("n")}
      />
      <Autocomplete
        label={t("size")}
        description={t("sizeHint")}
        placeholder={t("default")}
        data={sizes}
        value={draft.size}
        error={errorOf("size")}
        onChange={(size) => change({ size })}
        {...fieldAttribute("size")}
      />
    </SimpleGrid>
  )
}

const ChatFields = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const most = model.limits?.output_tokens
  return (
    <Group align="flex-end" gap="lg">
      <NumberInput
        label={t("maxTokens")}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        placeholder={most === undefined ? t("default") : t("defaultOf", { value: most })}
        value={draft.maxTokens}
        error={errorOf("max_tokens")}
        onChange={(maxTokens) => change({ maxTokens })}
        {...fieldAttribute("max_tokens")}
      />
      <Switch
        pb={8}
        label={t("streams")}
        checked={draft.streams}
        onChange={(event) => change({ streams: event.currentTarget.checked })}
      />
      <Stack gap={4}>
        <Input.Label labelElement="div">{t("textApi")}</Input.Label>
        <TextApiChoice value={draft.textApi} onChange={(textApi) => change({ textApi })} />
      </Stack>
    </Group>
  )
}

const RerankFields = ({ draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  return (
    <NumberInput
      label={t("topN")}
      clampBehavior="none"
      allowDecimal={false}
      allowNegative={false}
      placeholder={t("allDocuments")}
      value={draft.topN}
      error={errorOf("top_n")}
      onChange={(topN) => change({ topN })}
      {...fieldAttribute("top_n")}
    />
  )
}

const Voice = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const voices = choicesOf(model, "voice")
  const common = {
    label: t("voice"),
    placeholder: t("default"),
    error: errorOf("voice"),
    ...fieldAttribute("voice")
  }
  return voices === null ? (
    <TextInput
      {...common}
      description={t("voiceHint")}
      value={draft.voice}
      onChange={(event) => change({ voice: event.currentTarget.value })}
    />
  ) : (
    <Select
      {...common}
      description={t("voiceChoice")}
      data={[...voices]}
      clearable
      searchable
      value={draft.voice === "" ? null : draft.voice}
      onChange={(voice) => change({ voice: voice ?? "" })}
    />
  )
}

const SPEED_STEP = 0.25

const Speed = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const speed = model.parameters?.speed
  if (speed?.type !== "number") return null
  const { minimum, maximum } = speed
  return (
    <NumberInput
      label={t("speed")}
      description={t("speedHint", { minimum, maximum })}
      clampBehavior="none"
      allowNegative={false}
      step={SPEED_STEP}
      placeholder={t("default")}
      value={draft.speed}
      error={errorOf("speed")}
      onChange={(speed) => change({ speed })}
      {...fieldAttribute("speed")}
    />
  )
}

const SpeechFields = (props: FormProps) => {
  const { t } = useTranslation("playground")
  const { model, draft, change, errorOf } = props
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <Voice {...props} />
        <Select
          label={t("format")}
          description={t("formatHint")}
          placeholder={t("default")}
          data={[...formatsOf(model, speechFormats)]}
          clearable
          value={draft.format}
          error={errorOf("response_format")}
          onChange={(format) => change({ format })}
          {...fieldAttribute("response_format")}
        />
        <Speed {...props} />
      </SimpleGrid>
      {hasField(model, "instructions") ? (
        <Textarea
          label={t("instructions")}
          description={t("instructionsHint")}
          autosize
          minRows={2}
          maxRows={6}
          value={draft.instructions}
          error={errorOf("instructions")}
          onChange={(event) => change({ instructions: event.currentTarget.value })}
          {...fieldAttribute("instructions")}
        />
      ) : null}
    </>
  )
}

const TranscriptionFields = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {hasField(model, "language") ? (
          <TextInput
            label={t("language")}
            description={t("languageHint")}
            placeholder={t("detected")}
            value={draft.language}
            error={errorOf("language")}
            onChange={(event) => change({ language: event.currentTarget.value })}
            {...fieldAttribute("language")}
          />
        ) : null}
        <Select
          label={t("format")}
          description={t("transcriptFormatHint")}
          placeholder={t("default")}
          data={[...formatsOf(model, transcriptFormats)]}
          clearable
          value={draft.transcriptFormat}
          error={errorOf("response_format")}
          onChange={(transcriptFormat) => change({ transcriptFormat })}
          {...fieldAttribute("response_format")}
        />
      </SimpleGrid>
      {hasField(model, "prompt") ? (
        <Textarea
          label={t("prompt")}
          description={t("guideHint")}
          autosize
          minRows={2}
          maxRows={6}
          value={draft.guide}
          error={errorOf("prompt")}
          onChange={(event) => change({ guide: event.currentTarget.value })}
          {...fieldAttribute("prompt")}
        />
      ) : null}
    </>
  )
}

/** The fields of each kind of order; an embedding has none. */
const fieldsOfKinds = {
  video: VideoFields,
  image: ImageFields,
  chat: ChatFields,
  embedding: null,
  rerank: RerankFields,
  tts: SpeechFields,
  asr: TranscriptionFields
} as const

interface Props extends FormProps {
  /** The field that gets the focus; a new object moves it again. */
  readonly focus: { readonly field: Field } | null
}

export const AdvancedFields = ({ focus, ...props }: Props) => {
  const kind = kindOfModel(props.model)
  const KindFields = kind === null ? null : fieldsOfKinds[kind]
  const fields = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (focus === null) return
    fields.current?.querySelector<HTMLElement>(`[data-field="${focus.field}"]`)?.focus()
  }, [focus])
  return (
    <Stack ref={fields}>
      {KindFields === null ? null : <KindFields {...props} />}
      <ParameterFields {...props} />
      <NoteRows {...props} />
    </Stack>
  )
}
