#include <stddef.h>

/// A file that the server offers.
struct page_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The description of the interface in OpenAPI.
extern const struct page_file page_openapi;
/// The page of the root.
extern const struct page_file page_index;
/// The files that the page of the root needs.
extern const struct page_file *const page_files;
extern const size_t page_file_count;
