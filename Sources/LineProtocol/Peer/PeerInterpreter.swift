/// Interprets the messages of a peer in order.
struct PeerInterpreter: Sendable {
    private enum State {
        case idle
        case receiving(PeerReception)
        /// An image was rejected, and its end has not come. Further base64 is delivered as ``PeerPiece/leftOut(_:)``.
        case leavingOut
    }

    private var state = State.idle
    /// Whether the next bytes continue an overlong line.
    private var isAmidLine = false
    /// The start of a UTF-8 character at the end of the last piece of an overlong line, which the next piece completes.
    private var characterBegun: [UInt8] = []

    /// Takes one line, or one part of an overlong line, and returns the pieces that it completes.
    mutating func take(_ line: [UInt8], _ ending: LineEnding) -> [PeerPiece] {
        let isContinuation = isAmidLine
        isAmidLine = ending == .cut
        let line = isContinuation || isAmidLine ? line : line.withoutNULs
        if !isContinuation, !isAmidLine {
            if line.isEmpty { return [] }
            if let pieces = control(line) { return pieces }
        }
        if case .idle = state {} else if characterBegun.isEmpty, Base64Decoder.isBase64(line) { return data(line) }
        return text(line, isContinuation: isContinuation, isCut: isAmidLine)
    }

    /// Returns the last pieces at the end of input. `pending` is the line that has not ended; it may be empty.
    mutating func finish(_ pending: [UInt8]) -> [PeerPiece] {
        var pieces: [PeerPiece] = []
        let pending = isAmidLine ? pending : pending.withoutNULs
        if !pending.isEmpty || !characterBegun.isEmpty {
            pieces += text(pending, isContinuation: isAmidLine, isCut: true, holdsCharacter: false)
        }
        if case .receiving = state { pieces += endImage() }
        return pieces
    }

    // MARK: Protocol messages

    /// Returns the pieces of a message that the protocol defines; nil for text and for the base64 of an image.
    private mutating func control(_ line: [UInt8]) -> [PeerPiece]? {
        if line == Array("Hello ack".utf8) { return [.acknowledgement] }
        if let isOn = toggle(line) { return [.toggle(isOn)] }
        if let greeting = PeerGreeting(line) { return [.greeting(greeting)] }
        guard line.starts(with: "IMG_".utf8) else { return nil }
        if let rest = line.behind("IMG_BEGIN") { return beginImage(rest) }
        if let rest = line.behind("IMG_ERROR") {
            state = .idle
            return [.imageRefused(reason: String(decoding: rest.dropFirst(), as: UTF8.self))]
        }
        if case .idle = state { return nil }
        return line == Array("IMG_END".utf8) ? endImage() : nil
    }

    private func toggle(_ line: [UInt8]) -> Bool? {
        guard line.count <= 3 else { return nil }
        if case .receiving(let reception) = state, reception.expects(line.count) { return nil }
        switch String(decoding: line, as: UTF8.self).uppercased() {
        case "ON": return true
        case "OFF": return false
        default: return nil
        }
    }

    // MARK: Images

    private mutating func beginImage(_ announcement: ArraySlice<UInt8>) -> [PeerPiece] {
        // The previous image may be complete even if its `IMG_END` was lost.
        var pieces: [PeerPiece] = []
        if case .receiving = state { pieces = endImage() }
        guard let image = PeerImage(announcement: announcement) else {
            return pieces + fail(PeerImageError(.beginBadFormat, of: nil))
        }
        guard image.characterCount <= PeerDecoder.characterLimit else {
            return pieces + [.imageBegins(image)] + fail(PeerImageError(.tooLarge, of: image))
        }
        state = .receiving(PeerReception(image))
        return pieces + [.imageBegins(image)]
    }

    private mutating func data(_ characters: [UInt8]) -> [PeerPiece] {
        guard case .receiving(var reception) = state else { return [.leftOut(characters)] }
        do throws(PeerImageError) {
            let bytes = try reception.decode(characters)
            state = .receiving(reception)
            return bytes.isEmpty ? [] : [.imageData(bytes)]
        } catch {
            return fail(error) + [.leftOut(characters)]
        }
    }

    private mutating func endImage() -> [PeerPiece] {
        defer { state = .idle }
        guard case .receiving(let reception) = state else { return [] }
        do throws(PeerImageError) { try reception.finish() } catch { return [.imageFailed(error)] }
        return [.imageEnds]
    }

    private mutating func fail(_ error: PeerImageError) -> [PeerPiece] {
        state = .leavingOut
        return [.imageFailed(error)]
    }

    // MARK: Text

    /// Returns the piece of a text, or of one part of an overlong text; no piece if it is empty and continues no text.
    ///
    /// - Parameter holdsCharacter: Whether to keep an incomplete UTF-8 character at the end of a cut text for the next
    ///   part. False at the end of input, which has no next part.
    private mutating func text(
        _ line: [UInt8], isContinuation: Bool, isCut: Bool, holdsCharacter: Bool = true
    ) -> [PeerPiece] {
        if case .receiving(var reception) = state {
            reception.hasHeardText = true
            state = .receiving(reception)
        }
        var bytes = characterBegun + line
        characterBegun = []
        if isCut, holdsCharacter {
            characterBegun = Array(bytes.suffix(bytes.lengthOfCharacterBegun))
            bytes.removeLast(characterBegun.count)
        }
        // An empty continuation is delivered: it ends a line that was cut just before its line end.
        if bytes.isEmpty, !isContinuation { return [] }
        return [.text(PeerText(bytes, isContinuation: isContinuation, isCut: isCut))]
    }
}

extension [UInt8] {
    /// Returns the bytes after `word`, including the space after it; nil if the message does not begin with this word.
    fileprivate func behind(_ word: String) -> ArraySlice<UInt8>? {
        guard starts(with: word.utf8) else { return nil }
        let rest = dropFirst(word.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: " ") ? rest : nil
    }

    /// The number of bytes at the end that begin a UTF-8 character without completing it.
    fileprivate var lengthOfCharacterBegun: Int {
        for (length, byte) in zip(1...3, reversed()) {
            if byte & 0xC0 == 0x80 { continue }
            let whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length < whole ? length : 0
        }
        return 0
    }
}
