/// A request of a program, one JSON object on a line: `{"id": 1, "do": "state", "device": "pump"}`.
package struct ControlRequest {
    /// The program's ID for the request, an integer or text, which the response repeats.
    package let id: JSONValue
    /// The requested action: the value of `do`.
    package let verb: String
    /// All other members.
    package var arguments: ControlArguments

    /// The error for a line that is not a valid request.
    package struct Refusal: Error {
        /// The request's ID; null if it can't be read.
        package var id: JSONValue = .null
        /// The failure to send back to the program.
        package var failure: ControlFailure
    }

    /// Parses a line without its line end.
    package init(_ line: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do throws(JSONReader.Failure) { value = try JSONReader.value(of: line) } catch {
            throw Refusal(failure: .usage("\(error)"))
        }
        guard case .object(var members) = value else {
            throw Refusal(failure: .usage("a request must be a JSON object"))
        }
        switch members.removeValue(forKey: "id") {
        case .integer(let number): id = .integer(number)
        case .text(let text): id = .text(text)
        default: throw Refusal(failure: .usage("'id' must be an integer or a string"))
        }
        guard case .text(let verb) = members.removeValue(forKey: "do") else {
            throw Refusal(id: id, failure: .usage("'do' must be a string"))
        }
        self.verb = verb
        arguments = ControlArguments(members, of: verb)
    }
}

/// The arguments of a request. Reading an argument removes it, so that ``end()`` finds the unknown ones.
package struct ControlArguments {
    private var members: [String: JSONValue]
    private let verb: String

    /// Creates the arguments of a request whose `do` is `verb`.
    package init(_ members: [String: JSONValue], of verb: String) {
        self.members = members
        self.verb = verb
    }

    /// Removes and returns a text; nil if the member is missing.
    package mutating func optionalText(_ name: String) throws(ControlFailure) -> String? {
        switch members.removeValue(forKey: name) {
        case nil: return nil
        case .text(let text): return text
        default: throw .usage("'\(name)' must be a string")
        }
    }

    /// Removes and returns an integer; nil if the member is missing.
    package mutating func optionalInteger(_ name: String) throws(ControlFailure) -> Int? {
        switch members.removeValue(forKey: name) {
        case nil: return nil
        case .integer(let number): return number
        default: throw .usage("'\(name)' must be an integer")
        }
    }

    /// Removes and returns a required text.
    package mutating func text(_ name: String) throws(ControlFailure) -> String {
        guard let text = try optionalText(name) else { throw .usage("'\(verb)' needs '\(name)'") }
        return text
    }

    /// Removes and returns a list of texts; nil if the member is missing or is the text `all`.
    package mutating func list(_ name: String) throws(ControlFailure) -> [String]? {
        switch members[name] {
        case .text("all"):
            members[name] = nil
            return nil
        case nil, .array: return try texts(name)
        default: throw .usage("'\(name)' must be an array of strings, or \"all\"")
        }
    }

    /// Removes and returns a list of texts; nil if the member is missing.
    package mutating func texts(_ name: String) throws(ControlFailure) -> [String]? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .array(let values) = value else { throw .usage("'\(name)' must be an array of strings") }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else { throw .usage("'\(name)' must be an array of strings") }
            texts.append(text)
        }
        return texts
    }

    /// Removes and returns the members of an object; empty if the member is missing.
    package mutating func object(_ name: String) throws(ControlFailure) -> [String: JSONValue] {
        switch members.removeValue(forKey: name) {
        case nil: return [:]
        case .object(let object): return object
        default: throw .usage("'\(name)' must be an object")
        }
    }

    /// Rejects the request if it has arguments that were not read: a misspelt member must not go unnoticed.
    package func end() throws(ControlFailure) {
        if let name = members.keys.min() { throw .usage("'\(verb)' takes no '\(name)'") }
    }
}
