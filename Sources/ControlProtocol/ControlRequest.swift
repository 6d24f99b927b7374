/// A request of a program, one JSON object on a line: `{"id": 1, "do": "state", "device": "pump"}`.
package struct ControlRequest {
    /// What the program calls the request, an integer or text; the response carries it too.
    package let id: JSONValue
    /// What is to be done: the value of `do`.
    package let verb: String
    /// All other members.
    package var arguments: ControlArguments

    /// A line that is no request.
    package struct Refusal: Error {
        /// What the program calls the request; null where that can't be read.
        package var id: JSONValue = .null
        package var failure: ControlFailure
    }

    /// Reads a line, without its end.
    package init(_ line: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do throws(JSONReader.Failure) { value = try JSONReader.value(of: line) } catch {
            throw Refusal(failure: .usage("\(error)"))
        }
        guard case .object(var members) = value else { throw Refusal(failure: .usage("a request is an object")) }
        switch members.removeValue(forKey: "id") {
        case .integer(let number): id = .integer(number)
        case .text(let text): id = .text(text)
        default: throw Refusal(failure: .usage("'id' must be an integer or text"))
        }
        guard case .text(let verb) = members.removeValue(forKey: "do") else {
            throw Refusal(id: id, failure: .usage("'do' must be text"))
        }
        self.verb = verb
        arguments = ControlArguments(members, of: verb)
    }
}

/// The members of a request, each taken once.
package struct ControlArguments {
    private var members: [String: JSONValue]
    private let verb: String

    package init(_ members: [String: JSONValue], of verb: String) {
        self.members = members
        self.verb = verb
    }

    /// Takes a text; nil where there is no such member.
    package mutating func optionalText(_ name: String) throws(ControlFailure) -> String? {
        switch members.removeValue(forKey: name) {
        case nil: return nil
        case .text(let text): return text
        default: throw .usage("'\(name)' must be text")
        }
    }

    /// Takes a whole number; nil where there is no such member.
    package mutating func optionalInteger(_ name: String) throws(ControlFailure) -> Int? {
        switch members.removeValue(forKey: name) {
        case nil: return nil
        case .integer(let number): return number
        default: throw .usage("'\(name)' must be a whole number")
        }
    }

    /// Takes a text.
    package mutating func text(_ name: String) throws(ControlFailure) -> String {
        guard let text = try optionalText(name) else { throw .usage("'\(verb)' needs '\(name)'") }
        return text
    }

    /// Takes a list of texts; nil where there is no such member, or the word `all`.
    package mutating func list(_ name: String) throws(ControlFailure) -> [String]? {
        switch members[name] {
        case .text("all"):
            members[name] = nil
            return nil
        case nil, .array: return try texts(name)
        default: throw .usage("'\(name)' must be a list of texts, or \"all\"")
        }
    }

    /// Takes a list of texts; nil where there is no such member.
    package mutating func texts(_ name: String) throws(ControlFailure) -> [String]? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .array(let values) = value else { throw .usage("'\(name)' must be a list of texts") }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else { throw .usage("'\(name)' must be a list of texts") }
            texts.append(text)
        }
        return texts
    }

    /// Takes the members of an object; none where there is no such member.
    package mutating func object(_ name: String) throws(ControlFailure) -> [String: JSONValue] {
        switch members.removeValue(forKey: name) {
        case nil: return [:]
        case .object(let object): return object
        default: throw .usage("'\(name)' must be an object")
        }
    }

    /// Refuses what nobody has taken: a member that is misspelt must not go unnoticed.
    package func end() throws(ControlFailure) {
        if let name = members.keys.min() { throw .usage("'\(verb)' takes no '\(name)'") }
    }
}
