/* SPDX-License-Identifier: MIT */
/* Prints the manual page magnet-facts(5) from the facts table. */
#include <stdio.h>

#include "facts/facts.h"
#include "show_facts.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: MIT\n"
	".\\\" Made by gen_facts.c from correlate/facts/table.h: do not edit.\n"
	".Dd November 23, 2026\n"
	".Dt MAGNET-FACTS 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm magnet-facts\n"
	".Nd what magnet establishes from the events of a recording\n"
	".Sh DESCRIPTION\n"
	"A fact is something that one event alone does not say:\n"
	"which bytes a call moved, how long a range of bytes was in each layer, for what a thread "
	"waited.\n"
	"Every figure of\n"
	".Xr magnet-report 1\n"
	"is made from facts.\n"
	".Nm magnet show Ar DIR Fl -facts Ar NAME\n"
	"prints all facts of one kind as tab-separated values.\n"
	"The first line names the columns and their types, as\n"
	".Sq name:type .\n"
	"Each further line is a fact.\n"
	"Facts come in the order in which nothing can change them any more;\n"
	"to have them in order of time, sort by a column.\n"
	".Pp\n"
	"The types are\n"
	".Bl -tag -width Ds -compact\n"
	".It Sy u64\n"
	"an unsigned number,\n"
	".It Sy i64\n"
	"a signed number,\n"
	".It Sy f64\n"
	"a number with decimals,\n"
	".It Sy bool\n"
	"0 or 1,\n"
	".It Sy text\n"
	"text without tabs, blanks and control characters: these are replaced by\n"
	".Sq _ .\n"
	".El\n"
	".Pp\n"
	"A name that ends in\n"
	".Sq _ns\n"
	"is nanoseconds: of\n"
	".Dv CLOCK_MONOTONIC\n"
	"where the type is u64, a span of time where it is f64.\n"
	"Other numbers are bytes unless the text says otherwise.\n"
	"An empty value is not known, or does not apply.\n"
	"Offsets count a flow's bytes from 0.\n"
	"Of a connection that was open before the recording, 0 is the first byte recorded until "
	"its other end is\n"
	"met, which may know more of its bytes: facts from then on count from the first of these.\n"
	"A flow is one direction of a socket, such as 4097/tx: the same name as in the report and "
	"in\n"
	".Nm magnet show Fl -tsv .\n"
	".Sh FACTS\n";

static const char tail[] =
	".Sh EXAMPLES\n"
	"The ten ranges of bytes that took longest, with the flow and the reason:\n"
	".Bd -literal -offset indent\n"
	"magnet show trace --facts range | sort -t '\t' -k 6 -gr | head\n"
	".Ed\n"
	".Sh SEE ALSO\n"
	".Xr magnet-report 1 ,\n"
	".Xr magnet-show 1 ,\n"
	".Xr magnet-events 5\n";

static void text(const char *s)
{
	char after = 0;

	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s; s++)
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == ' ' && after == '.') /* a sentence begins on a line of its own */
			putchar('\n');
		else
			putchar(after = *s);
	putchar('\n');
}

static void words(const struct fact_column *c)
{
	for (int w = 0; w < c->count; w++)
		printf("%s%s", w ? ", " : "", c->words[w]);
}

static void column(const struct fact_column *c)
{
	bool is_time =
		c->type == FACT_TYPE_TIME || c->type == FACT_TYPE_NS || c->type == FACT_TYPE_SPAN;

	if (c->type == FACT_TYPE_SPANS) {
		printf(".It Va %s_ Ns Ar WORD Ns Va _ns No \\&(%s)\n", c->name,
			fact_type_name(FACT_TYPE_SPAN));
		text(c->doc);
		printf(".br\nWORD is one of ");
		words(c);
		puts(".");
		return;
	}
	printf(".It Va %s%s No \\&(%s)\n", c->name, is_time ? "_ns" : "", fact_type_name(c->type));
	text(c->doc);
	if (c->type == FACT_TYPE_WORD) {
		printf(".br\nOne of ");
		words(c);
		puts(".");
	}
}

int main(void)
{
	fputs(head, stdout);
	for (int i = 0; i < FACTS; i++) {
		printf(".Ss %s\n", fact_table[i].name);
		text(fact_table[i].doc);
		printf(".Bl -tag -width Ds\n");
		for (int k = 0; k < fact_table[i].columns; k++)
			column(&fact_table[i].column[k]);
		printf(".El\n");
	}
	fputs(tail, stdout);
	return fflush(stdout) != 0 || ferror(stdout);
}
