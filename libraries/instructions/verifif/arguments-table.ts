/** The arguments that each checked instruction must have, separated by spaces. */
const checked: Readonly<Record<string, string>> = {
  "change_case:all_caps": "",
  "change_case:lowercase": "",
  "change_case:alternating": "",
  "change_case:first_letter_cap": "",
  "change_case:capital_word_frequency": "capital_relation capital_frequency",
  "change_case:lowercase_word_frequency": "lowercase_relation lowercase_frequency",
  "change_case:all_caps_target": "target_string",
  "change_case:lowercase_target": "target_string",
  "change_case:alternating_target": "target_string",
  "change_case:first_letter_cap_target": "target_string",
  "detectable_content:number_placeholders": "relation num_placeholders",
  "detectable_content:postscript": "postscript_marker",
  "detectable_format:json_format": "",
  "detectable_format:multiple_sections": "section_splitter relation num_sections",
  "detectable_format:numbered_list": "relation num_numbered_items",
  "detectable_format:number_bullet_lists": "relation num_bullets",
  "detectable_format:title": "",
  "keywords:existence": "keywords",
  "keywords:frequency": "keyword relation frequency",
  "keywords:forbidden_words": "forbidden_words",
  "keywords:letter_frequency": "letter let_relation let_frequency",
  "punctuation:no_comma": "",
  "length_constraints:number_characters": "relation num_chars",
  "length_constraints:number_words": "relation num_words",
  "length:max_word_count": "max_words",
  "startend:start_checker": "start_phrase",
  "startend:end_checker": "end_phrase",
  "startend:wrap_checker": "wrap_phrase",
  "startend:quotation": "",
  "change_case:case_ratio": "min_fraction max_fraction",
  "change_case:first_letter_sentence": "",
  "change_case:last_letter": "case",
  "change_case:vowel_consonant_balance": "min_fraction max_fraction",
  "detectable_format:number_paragraphs": "relation num_paragraphs",
  "detectable_format:max_paragraph_length": "max_chars",
  "detectable_format:sentences_per_paragraph": "relation num_sentences",
  "detectable_format:indentation": "indent_type size",
  "length_constraints:sentence_length": "max_words",
  "length_constraints:word_repetition": "max_repeats",
  "length_constraints:unique_words": "relation num_unique",
  "punctuation:frequency": "punctuation relation frequency",
  "punctuation:balance": "",
  "punctuation:question_exclaim": "relation num_marks",
  "punctuation:no_period": "",
  "punctuation:end_rule": "allowed",
  "keywords:alliteration": "target_letter relation num_alliteration",
  "keywords:palindrome_word": "min_length",
  "keywords:positioning": "keyword position",
  "detectable_format:nested_list": "min_depth num_subitems",
  "detectable_format:table": "min_rows min_cols",
  "detectable_format:heading_depth": "levels",
  "detectable_format:section_balance": "element_type count",
  "length_constraints:word_length": "min_length max_length",
  "length_constraints:avg_word_length": "min_ratio max_ratio",
  "detectable_format:sentence_count": "relation num_sentences",
  "length_constraints:paragraph_length": "relation words_per_paragraph",
  "punctuation:variety": "min_types",
  "detectable_content:numeric_inclusion": "relation num_numbers",
  "detectable_format:sentence_endings": "min_variants",
  "keywords:vowel_count": "relation num_vowels",
  "keywords:consonant_count": "relation num_consonants",
};

/** The arguments that each instruction for a judge must have. */
const judged: Readonly<Record<string, string>> = {
  "stylistic:tone_formality": "tone_level",
  "stylistic:emotional_tone": "emotion_type",
  "stylistic:politeness": "politeness_degree",
  "stylistic:descriptive_level": "description_degree",
  "stylistic:literary_style": "style_type",
  "stylistic:sentence_tone_consistency": "tone_type",
  "stylistic:voice": "voice_type",
  "stylistic:figurative_language": "figure_type relation num_occurrences",
  "stylistic:tone_transition": "from_tone to_tone transition_position",
  "stylistic:emotive_adjectives": "relation num_adjectives",
  "stylistic:sensory_detail": "sense_type relation num_details",
  "stylistic:rhythm_pattern": "rhythm_type",
  "linguistic:pragmatic_context": "context_type",
  "linguistic:speech_act": "act_type",
  "linguistic:syntactic_pattern": "pattern_type",
  "linguistic:grammatical_mood": "mood_type",
  "linguistic:morphological_form": "form_type",
  "linguistic:phonological_pattern": "phonology_type",
  "linguistic:sound_symbolism": "relation num_symbolisms",
  "situation:role_based": "role_type",
  "situation:task_specific": "task_type",
  "situation:audience_alignment": "audience_type",
  "situation:contextual_scenario": "scenario_type",
  "situation:perspective": "perspective_type",
  "situation:emotional_alignment": "emotion_type",
  "situation:cultural_context": "culture_type adaptation_level",
  "situation:temporal_context": "time_frame",
  "situation:environment_setting": "environment_type",
};

/** Values of arguments that a judge understands without a definition. */
const knownValues: Readonly<Record<string, string>> = {
  "stylistic:tone_formality": "formal informal neutral",
  "stylistic:emotional_tone": "positive negative neutral motivational empathetic sarcastic humorous",
  "stylistic:politeness": "polite impolite neutral",
  "stylistic:literary_style": "poetic narrative dramatic persuasive expository journalistic",
  "stylistic:sentence_tone_consistency": "formal informal neutral positive negative",
  "stylistic:voice": "active passive mixed",
  "stylistic:figurative_language": "simile metaphor personification hyperbole idiom",
  "stylistic:sensory_detail": "visual auditory tactile olfactory gustatory",
  "stylistic:rhythm_pattern": "short balanced long",
  "linguistic:pragmatic_context": "formal_discourse dialogue dialect sociolect classical policy_style",
  "linguistic:speech_act": "declarative interrogative imperative exclamatory conditional suggestive",
  "linguistic:syntactic_pattern":
    "compound_sentence complex_sentence subordinate_clause passive_construction parallel_structure",
  "linguistic:grammatical_mood": "indicative subjunctive imperative interrogative",
  "linguistic:morphological_form": "inflectional derivational compound reduplicated",
  "linguistic:phonological_pattern": "alliteration rhyme rhythm assonance consonance",
  "situation:perspective": "first_person second_person third_person mixed",
  "situation:temporal_context": "past present future mixed",
  "situation:task_specific":
    "consultation recommendation instruction analysis diagnosis debate summary explanation critique comparison",
  "situation:audience_alignment":
    "children students experts general_public policymakers professionals elderly beginners",
  "situation:contextual_scenario":
    "business_meeting academic_lecture courtroom therapy_session news_report press_conference classroom emergency_briefing",
  "situation:emotional_alignment": "sympathetic neutral optimistic serious cautious motivational respectful",
  "situation:environment_setting": "urban rural digital natural professional academic cultural",
  "situation:cultural_context": "western eastern global local specific_region implicit explicit",
};

function listOf(table: Readonly<Record<string, string>>, id: string): readonly string[] | undefined {
  return Object.hasOwn(table, id) ? (table[id] ?? "").split(" ").filter(Boolean) : undefined;
}

/** The required arguments of an instruction; undefined for an unknown one. */
export function requiredArguments(id: string): readonly string[] | undefined {
  return listOf(checked, id) ?? listOf(judged, id);
}

/** Whether only a judge can check an instruction. */
export function needsJudge(id: string): boolean {
  return Object.hasOwn(judged, id);
}

/** The values of the arguments of an instruction that need no definition. */
export function knownValuesOf(id: string): readonly string[] {
  return listOf(knownValues, id) ?? [];
}
