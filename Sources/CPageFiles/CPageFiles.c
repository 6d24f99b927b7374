#include "CPageFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi[] = {
#embed "../../packaging/schema/http.openapi.json"
};
const struct page_file page_openapi = {"openapi.json", openapi, sizeof openapi};

static const unsigned char index_page[] = {
#embed "page/index.html"
};
const struct page_file page_index = {"index.html", index_page, sizeof index_page};

static const unsigned char main_js[] = {
#embed "page/main.js"
};

static const unsigned char bench_js[] = {
#embed "page/bench.js"
};

static const unsigned char elements_js[] = {
#embed "page/elements.js"
};

static const unsigned char screens_js[] = {
#embed "page/screens.js"
};

static const unsigned char simulator_js[] = {
#embed "page/simulator.js"
};

static const unsigned char session_js[] = {
#embed "page/session.js"
};

static const unsigned char stream_js[] = {
#embed "page/stream.js"
};

static const unsigned char style_css[] = {
#embed "page/style.css"
};

static const unsigned char console_js[] = {
#embed "page/console.js"
};

static const unsigned char content_js[] = {
#embed "page/content.js"
};

static const unsigned char map_js[] = {
#embed "page/map.js"
};

static const unsigned char messages_js[] = {
#embed "page/messages.js"
};

static const unsigned char outcomes_js[] = {
#embed "page/outcomes.js"
};

static const unsigned char rescue_js[] = {
#embed "page/rescue.js"
};

static const unsigned char about_js[] = {
#embed "page/about.js"
};

static const unsigned char calls_js[] = {
#embed "page/calls.js"
};

static const unsigned char chart_js[] = {
#embed "page/chart.js"
};

static const unsigned char past_js[] = {
#embed "page/past.js"
};

static const unsigned char peer_js[] = {
#embed "page/peer.js"
};

static const unsigned char trial_js[] = {
#embed "page/trial.js"
};

static const unsigned char values_js[] = {
#embed "page/values.js"
};

static const unsigned char attention_js[] = {
#embed "page/attention.js"
};

static const unsigned char worker_js[] = {
#embed "page/worker.js"
};

static const unsigned char app_webmanifest[] = {
#embed "page/app.webmanifest"
};

static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};

static const struct page_file files[] = {
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"main.js", main_js, sizeof main_js},
    {"app.webmanifest", app_webmanifest, sizeof app_webmanifest},
    {"attention.js", attention_js, sizeof attention_js},
    {"bench.js", bench_js, sizeof bench_js},
    {"about.js", about_js, sizeof about_js},
    {"calls.js", calls_js, sizeof calls_js},
    {"chart.js", chart_js, sizeof chart_js},
    {"console.js", console_js, sizeof console_js},
    {"content.js", content_js, sizeof content_js},
    {"elements.js", elements_js, sizeof elements_js},
    {"map.js", map_js, sizeof map_js},
    {"messages.js", messages_js, sizeof messages_js},
    {"outcomes.js", outcomes_js, sizeof outcomes_js},
    {"rescue.js", rescue_js, sizeof rescue_js},
    {"screens.js", screens_js, sizeof screens_js},
    {"session.js", session_js, sizeof session_js},
    {"simulator.js", simulator_js, sizeof simulator_js},
    {"stream.js", stream_js, sizeof stream_js},
    {"style.css", style_css, sizeof style_css},
    {"past.js", past_js, sizeof past_js},
    {"peer.js", peer_js, sizeof peer_js},
    {"trial.js", trial_js, sizeof trial_js},
    {"values.js", values_js, sizeof values_js},
    {"worker.js", worker_js, sizeof worker_js},
};
const struct page_file *const page_files = files;
const size_t page_file_count = sizeof files / sizeof *files;
