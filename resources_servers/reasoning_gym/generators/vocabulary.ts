/** Everyday words for tasks about letters and words. */
export const VOCABULARY = (
  "amber anchor apron autumn bakery barley basket beacon bridge bronze butter candle canvas carpet castle cellar cherry " +
  "cinder clover copper cotton cradle dinner donkey drawer ember engine fabric falcon feather ferry flour forest fountain " +
  "garden ginger glacier granite hammer harbour harvest hazel helmet honey island jacket jasmine kettle ladder lantern " +
  "lemon lentil linen marble market meadow mirror mitten mustard needle nettle nutmeg orchard otter oyster paddle paper " +
  "parsley pebble pepper pigeon pillow plaster pocket pottery prairie quarry quiver rabbit raisin raven ribbon river " +
  "saddle saffron sailor shelter shovel silver sparrow spinach spoon stable summer sunset tailor thimble thistle timber " +
  "tunnel turnip valley velvet violet walnut weaver whistle willow window winter yarrow yellow"
).split(" ");
