/// The styles that all date texts under one key have in common.
struct DateEvidence: Sendable {
    /// The possible layouts, the preferred one first; empty before the first text.
    private var layouts: [DateStyle.Layout] = []
    /// The indices in `DateStyle.Fraction.all` of the possible fractions, as bits.
    private var fractions: UInt16 = 0
    private var zone: [UInt8] = []
    private var hasFailed = false

    /// The preferred common style; nil if there are no dates or no common style.
    var style: DateStyle? {
        guard !hasFailed, let layout = layouts.first else { return nil }
        guard layout.hasFraction else { return DateStyle(layout, zone: String(decoding: zone, as: UTF8.self)) }
        return DateStyle.Fraction.all.enumerated().first { fractions & (1 << $0.offset) != 0 }.map {
            DateStyle(layout, $0.element, zone: String(decoding: zone, as: UTF8.self))
        }
    }

    /// Adds a text.
    ///
    /// - Returns: Whether the text is a date in a style that all dates so far share.
    mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !hasFailed, let reading = DateReading(text) else { return false }
        var found: UInt16 = 0
        for (index, fraction) in DateStyle.Fraction.all.enumerated()
        where fraction.holds(digitCount: reading.digitCount, microseconds: reading.fraction) {
            found |= 1 << index
        }
        let zone = reading.zone(in: text)
        if layouts.isEmpty {
            layouts = [reading.layout] + (reading.otherLayout.map { [$0] } ?? [])
            fractions = found
            self.zone = Array(zone)
        } else {
            layouts.removeAll { !reading.isWritten(in: $0) }
            fractions &= found
            hasFailed = layouts.isEmpty || fractions == 0 || !zone.elementsEqual(self.zone)
        }
        return !hasFailed
    }

    /// Adds the dates of other evidence.
    mutating func absorb(_ other: DateEvidence) {
        guard !hasFailed, !other.layouts.isEmpty || other.hasFailed else { return }
        guard !layouts.isEmpty else {
            self = other
            return
        }
        layouts.removeAll { !other.layouts.contains($0) }
        fractions &= other.fractions
        hasFailed = other.hasFailed || layouts.isEmpty || fractions == 0 || zone != other.zone
    }
}
