#include "CPageFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi[] = {
#embed "../../packaging/schema/http.openapi.json"
};
const struct page_file page_openapi = {openapi, sizeof openapi};

static const unsigned char index_page[] = {
#embed "index.html"
};
const struct page_file page_index = {index_page, sizeof index_page};
