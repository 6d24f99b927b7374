package import StrictJSON

/// A request of a program to pumpctld, or to a simulator with a control socket. One JSON object on a line:
/// `{"id": 1, "do": "state", "device": "pump"}`.
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

    /// Parses a line without its line end. The caller limits its length.
    package init(_ line: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(line, size: .max) } catch {
            throw Refusal(failure: .usage("\(error)"))
        }
        guard var rest = value.dictionary else { throw Refusal(failure: .usage("a request must be a JSON object")) }
        guard let id = rest.removeValue(forKey: "id")?.requestID else {
            throw Refusal(failure: .usage("'id' must be an integer or a string"))
        }
        self.id = id
        guard let verb = rest.removeValue(forKey: "do")?.text else {
            throw Refusal(id: self.id, failure: .usage("'do' must be a string"))
        }
        self.verb = verb
        arguments = ControlArguments(rest, of: verb)
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
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard let text = value.text else { throw .usage("'\(name)' must be a string") }
        return text
    }

    /// Removes and returns an integer; nil if the member is missing.
    package mutating func optionalInteger(_ name: String) throws(ControlFailure) -> Int? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard let number = value.integer else { throw .usage("'\(name)' must be an integer") }
        return number
    }

    /// Removes and returns a Boolean value; nil if the member is missing.
    package mutating func optionalBoolean(_ name: String) throws(ControlFailure) -> Bool? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard let isOn = value.boolean else { throw .usage("'\(name)' must be true or false") }
        return isOn
    }

    /// Removes and returns a required text.
    package mutating func text(_ name: String) throws(ControlFailure) -> String {
        guard let text = try optionalText(name) else { throw .usage("'\(verb)' needs '\(name)'") }
        return text
    }

    /// Removes and returns the required ID of another request.
    package mutating func requestID(_ name: String) throws(ControlFailure) -> JSONValue {
        guard let value = members.removeValue(forKey: name) else { throw .usage("'\(verb)' needs '\(name)'") }
        guard let id = value.requestID else { throw .usage("'\(name)' must be an integer or a string") }
        return id
    }

    /// Removes and returns a list of texts; nil if the member is missing or is the text `all`.
    package mutating func list(_ name: String) throws(ControlFailure) -> [String]? {
        guard let value = members[name], !value.isArray else { return try texts(name) }
        guard value.text == "all" else { throw .usage("'\(name)' must be an array of strings, or \"all\"") }
        members[name] = nil
        return nil
    }

    /// Removes and returns a list of texts; nil if the member is missing.
    package mutating func texts(_ name: String) throws(ControlFailure) -> [String]? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        let texts = value.elements?.map(\.text)
        guard let texts, !texts.contains(nil) else { throw .usage("'\(name)' must be an array of strings") }
        return texts.compactMap(\.self)
    }

    /// Removes and returns the members of an object; empty if the member is missing.
    package mutating func object(_ name: String) throws(ControlFailure) -> [String: JSONValue] {
        guard let value = members.removeValue(forKey: name) else { return [:] }
        guard let members = value.dictionary else { throw .usage("'\(name)' must be an object") }
        return members
    }

    /// Rejects the request if it has arguments that were not read: a misspelt member must not go unnoticed.
    package func end() throws(ControlFailure) {
        if let name = members.keys.min() { throw .usage("'\(verb)' takes no '\(name)'") }
    }
}

extension JSONValue {
    /// The value as the ID of a request; nil if it is neither an integer nor text. Encoded again, because values are
    /// compared by their bytes: `"a"` and `"\u0061"` are one ID.
    fileprivate var requestID: JSONValue? { integer.map(JSONValue.integer) ?? text.map(JSONValue.text) }
}
