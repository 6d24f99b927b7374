#include "CTOML.h"

#define TOML_ENABLE_FORMATTERS 0
// Parse floating-point numbers with std::from_chars: streams would link in the C++ locales.
#define TOML_FLOAT_CHARCONV 1
#define TOML_MAX_NESTED_VALUES 16
// toml++ asserts that a table header begins with a key, and checks for input such as `[\` only afterwards. With NDEBUG
// it would even assume so, which is undefined behaviour. So NDEBUG is off, and assertions do nothing.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

static ctoml_text bytes(std::string_view text) { return {text.data(), text.size()}; }

// Reports a node, and then the nodes in it. `key` is null for the whole text and for elements of arrays.
static void walk(const toml::node &node, const toml::key *key, size_t depth, void *context, ctoml_visit *visit) {
    ctoml_value value = {};
    value.depth = depth;
    if (key) value.key = bytes(key->str());
    value.line = (key ? key->source() : node.source()).begin.line;
    switch (node.type()) {
    case toml::node_type::table: value.kind = CTOML_TABLE; break;
    case toml::node_type::array: value.kind = CTOML_ARRAY; break;
    case toml::node_type::string:
        value.kind = CTOML_STRING;
        value.string = bytes(node.as_string()->get());
        break;
    case toml::node_type::integer:
        value.kind = CTOML_INTEGER;
        value.integer = node.as_integer()->get();
        break;
    case toml::node_type::floating_point:
        value.kind = CTOML_FLOAT;
        value.number = node.as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        value.kind = CTOML_BOOLEAN;
        value.integer = node.as_boolean()->get();
        break;
    case toml::node_type::date: value.kind = CTOML_DATE; break;
    case toml::node_type::time: value.kind = CTOML_TIME; break;
    default: value.kind = CTOML_DATE_TIME;
    }
    visit(context, &value);
    if (auto table = node.as_table())
        for (auto &entry : *table) walk(entry.second, &entry.first, depth + 1, context, visit);
    else if (auto array = node.as_array())
        for (auto &element : *array) walk(element, nullptr, depth + 1, context, visit);
}

void ctoml_read(ctoml_text text, void *context, ctoml_visit *visit, ctoml_refuse *refuse) {
    try {
        walk(toml::parse(std::string_view(text.bytes, text.length)), nullptr, 0, context, visit);
    } catch (const toml::parse_error &error) {
        refuse(context, bytes(error.description()), error.source().begin.line);
    } catch (...) {
        std::terminate();
    }
}
