/** Stems of British spellings, the letters after them and what these become, and what may follow. */
const FAMILIES: readonly { stems: string; from: string; to: string; endings: string }[] = [
  {
    stems: `arb ard arm behavi belab cand clam clang col demean discol disfav dishon enam endeav fav ferv flav harb hon hum lab
    misbehavi misdemean multicol neighb od parl ranc rig rum savi sav splend succ technicol tricol tum unfav unsav val vap vig
    watercol`,
    from: "our",
    to: "or",
    endings:
      "|s|ed|eds|er|ers|ing|ings|ful|fully|less|able|ably|al|ant|ants|hood|hoods|ies|y|ism|ist|ists|ite|ites|itism|ize|ized|izes|izing|liness|ly|some",
  },
  { stems: "anal breathal catal paral psychoanal", from: "ys", to: "yz", endings: "e|ed|er|ers|es|ing" },
  {
    stems: `accessor acclimat aggrand agon amort anglic annual antagon apolog appet author bapt bastard bowdler brutal canal cannibal canon
    capital caramel carbon categor cauter central character circular civil collectiv colon commercial compartmental computer
    conceptual contextual criminal critic crystall custom decentral decriminal dehuman demilitar demobil democrat demon demoral
    denational deodor depersonal deput desensit destabil digit disorgan dramat econom editorial empath emphas energ epitom equal
    eulog evangel exorc extempor external factor familiar fantas femin fertil fictional final formal fossil fratern galvan general
    ghetto glamor global harmon homogen hospital human hybrid hypnot hypothes ideal idol immobil immortal immun individual
    industrial initial institutional intellectual internal international ion italic item jeopard legal legitim liberal lion liquid
    local magnet marginal material maxim mechan memorial memor mesmer metabol militar miniatur minim mobil modern moistur monopol
    moral motor national natural neutral normal optim organ ostrac overemphas oxid particular passiv pasteur patron pedestrian
    penal personal philosoph plagiar polar politic popular pressur priorit privat professional propagand proselyt public pulver
    radical random rational real recogn regular reorgan revital revolution rhapsod ritual romantic sanit satir scandal scrutin
    secular sensational sensit sentimental serial sermon signal social sodom solemn special stabil standard steril stigmat subsid
    summar symbol sympath synchron synthes systemat tantal tempor tender terror theor transistor traumat trivial tyrann unauthor
    uncivil underutil union unorgan unrecogn urban util vandal vapor verbal victim visual vocal vulcan vulgar western woman`,
    from: "is",
    to: "iz",
    endings: "e|ed|er|ers|es|ing|ingly|ation|ational|ations|able|ably|ance|ement",
  },
  {
    stems: `backpeda bedevi bejewe beve ca cance caro cavi channe chise counci counse crue cudge dia disembowe disheve drive due ename funne
    gambo grave grove grue impane imperi initia jewe labe leve libe marsha marve mode pane parce peda penci quarre rave refue remode
    reve riva shove shrive signa snive snorke spira squirre stenci swive tasse towe trave tria tunne unequa unrave unriva untramme
    wease yode`,
    from: "ll",
    to: "l",
    endings: "ed|er|ers|ing|ingly|ist|ists|or|ors|ous|ously",
  },
  {
    stems: `amphitheat calib centilit centimet cent epicent fib goit kilomet lacklust lit louv lust meag met micromet millilit millimet mit
    reconnoit sab saltpet scept sepulch somb spect theat`,
    from: "re",
    to: "er",
    endings: "|s|d",
  },
  { stems: "anal catal dial epil monol prol", from: "ogue", to: "og", endings: "|s" },
];

/** A British spelling, the American one, and the endings that both may have. */
const SINGLE = `
accoutrements accouterments
ae e on|ons|sthete|sthetes|sthetic|sthetically|sthetics|tiology
aerogramme aerogram |s
aeroplane airplane |s
ageing aging
almanack almanac |s
aluminium aluminum
anae ane mia|mic|sthesia|sthetic|sthetics|sthetist|sthetists|sthetize|sthetized|sthetizes|sthetizing
anaesthetis anesthetiz e|ed|es|ing
appal appall |s
archeological archaeological
archaeolog archeolog ically|ist|ists|y
artefact artifact |s
axe ax
bannister banister |s
battleax battleaxe
baulk balk |ed|ing|s
behove behoove |d|s
bevv bev ies|y
biass bias ed|ing
bingeing binging
bougainvillaea bougainvillea |s
buss bus es|ing
caesarean cesarean |s
calli cali per|pers|sthenics
cancelation cancellation |s
catalogu catalog ed|ing
centigramme centigram |s
centred centered
centre center fold|folds|piece|pieces
cheque check |book|books|s
chequered checkered
chilli chili
chimaera chimera |s
clarinettist clarinetist |s
connexion connection |s
cos coz ier|ies|iest|ily|iness|y
crenelated crenellated
cruellest cruelest
cypher cipher |s
defence defense |less|s
diarrhoea diarrhea
disc disk |s
distil distill |s
draught draft |board|boards|ier|iest|s|sman|smanship|smen|swoman|swomen|y
edoema edema
encyclopaedi encyclopedi a|as|c
enrol enroll |s
enthral enthrall |s
epaulette epaulet |s
faec fec al|es
fibreglass fiberglass
fillet filet |ed|ing|s
flautist flutist |s
foet fet al|id|us|uses
fulfil fulfill |ment|s
gaol jail |bird|birds|break|breaks|ed|er|ers|ing|s
gasses gases
gag gaug e|ed|es|ing
gipsies gypsies
glamor glamour
glueing gluing
gonorrhoea gonorrhea
gramme gram |s
grey gray |ed|ing|ish|ness|s
groyne groin |s
gryphon griffin |s
gynaecolog gynecolog ical|ist|ists|y
haem hem atological|atologist|atologists|atology|oglobin|ophilia|ophiliac|ophiliacs|orrhage|orrhaged|orrhages|orrhaging|orrhoids
homoeopath homeopath |ic|s|y
inflexion inflection |s
instal install |ment|ments|s
instil instill |s
jewellery jewelry
judgement judgment
kilogramme kilogram |s
leukaemia leukemia
licenc licens e|ed|es|ing
likeable likable
louvred louvered
manoeuvr maneuver ability|able|ed|ing|ings
manoeuvre maneuver |s
mediaeval medieval
milligramme milligram |s
minibusses minibuses
misspelt misspelled
moul mol d|ded|der|dered|dering|ders|dier|diest|ding|dings|ds|dy|t|ted|ting|ts
moustach mustach e|ed|es|ioed
oes es ophagus|ophaguses|trogen
offence offense |s
omelette omelet |s
orthopaedic orthopedic |s
outmanoeuvre outmaneuver |s
outmanoeuvr outmaneuver ed|ing
paed ped erast|erasts|iatric|iatrician|iatricians|iatrics|ophile|ophiles|ophilia
palaeo paleo lithic|ntologist|ntologists|ntology
pharmacopoeia pharmacopeia |s
philtre filter |s
phoney phony
plough plow |ed|ing|man|men|s|share|shares
pouffe pouf |s
practis practic e|ed|es|ing
praesidium presidium |s
pretence pretense |s
primaeval primeval
programme program |s
pummelled pummel
pummelling pummeled
pyjama pajama |s
pzazz pizzazz
reconnoitr reconnoiter ed|ing
remould remold |ed|ing|s
sceptic skeptic |al|ally|ism|s
sheikh sheik
smoulder smolder |ed|ing|s
snowplough snowplow
snowploughs snowplow
storey story
storeys stories
sulph sulf ate|ates|ide|ides|ur|urous
syphon siphon |ed|ing|s
theatregoer theatergoer |s
tonne ton |s
toxaemia toxemia
tranquillis tranquiliz e|ed|er|ers|es|ing
tranquilli tranquili ty|ze|zed|zer|zers|zes|zing
tranquilly tranquility
travelog travelogue |s
tyre tire |s
videodisc videodisk |s
waggon wagon |s
wooll wool en|ens|ies|y
worshipp worship ed|ing|er
yoghourt yogurt |s
yoghurt yogurt |s
`;

const american = new Map<string, string>();
for (const { stems, from, to, endings } of FAMILIES)
  for (const stem of stems.split(/\s+/))
    for (const ending of endings.split("|")) american.set(`${stem}${from}${ending}`, `${stem}${to}${ending}`);
for (const line of SINGLE.trim().split("\n")) {
  const [from = "", to = "", endings = ""] = line.split(" ");
  for (const ending of endings.split("|")) american.set(`${from}${ending}`, `${to}${ending}`);
}

/** American spelling of words in lower case. */
export function americanSpelling(text: string): string {
  return text.replace(/\S+/g, (word) => american.get(word) ?? word);
}
