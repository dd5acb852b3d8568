/**
 * The phrases that notes, transcripts and MDM are built from: one block for each theme of treatment. The lines of a
 * block: problem, medication, what the client reports, techniques, homework, what the client says.
 */
export const THEMES = `
generalized anxiety
sertraline 50 mg daily
worry about work deadlines on most days, with muscle tension in the evening | fewer episodes of catastrophic thinking than in the previous week | checking messages late at night and difficulty setting the phone aside
cognitive restructuring | scheduled worry time | progressive muscle relaxation
keep a thought record on three days | limit worry time to fifteen minutes a day
I keep running through everything that could go wrong on Monday. | When I write the worry down it looks smaller than it felt. | My shoulders are up at my ears by the afternoon.

major depressive disorder, recurrent, moderate
bupropion XL 150 mg daily
low mood in the mornings that lifts somewhat after leaving the house | returning to one walk a day and meeting a friend at the weekend | reduced appetite and little interest in cooking
behavioral activation | values clarification | activity scheduling
plan two pleasant activities | log mood before and after each walk
Getting out of bed is still the hardest part of the day. | I did go for the walk, and it was better than I expected. | I feel a bit more like myself around people I know well.

insomnia
trazodone 25 mg at night as needed
sleep onset of about fifty minutes, down from ninety | waking at four and reading the news until the alarm | one night without any medication for sleep
stimulus control | sleep restriction | psychoeducation about sleep drive
hold the agreed rise time on all seven days | complete the sleep diary each morning
I lie there and do the arithmetic on how many hours are left. | The fixed rise time is brutal, but I am tired at the right hour now. | I moved the charger out of the bedroom.

panic disorder
escitalopram 10 mg daily
two panic episodes, both on public transport and both shorter than before | riding three stops without leaving the train | carrying water and checking for exits before sitting down
interoceptive exposure | graded exposure | dropping of safety behaviors
repeat the three-stop ride twice | practice straw breathing for one minute a day
My heart went off, and I stayed in the seat anyway. | I keep looking for the door, even in here. | It peaked and then it just ran out, like you said.

attention-deficit/hyperactivity disorder, inattentive presentation
methylphenidate ER 18 mg each morning
missing two deadlines and finishing a third with a written plan | better mornings since the bag is packed the night before | losing track of time when switching between tasks
external reminders | task breakdown | implementation intentions
use one list in one place | set a timer for the first ten minutes of a task
I had eleven tabs open and none of them was the report. | The timer trick works if I start it before I think about it. | My partner noticed the kitchen before I did.
`
  .trim()
  .split('\n\n')
  .map((block) => {
    const [problem = '', medication = '', ...lists] = block.split('\n');
    const [reported = [], technique = [], homework = [], said = []] = lists.map((line) =>
      line.split(' | '),
    );
    return { problem, medication, reported, technique, homework, said };
  });

export type Theme = (typeof THEMES)[number];
